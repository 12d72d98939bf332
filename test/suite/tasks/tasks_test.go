// Package tasks follows the pages of docs/tasks, as a user would, on a real control plane with
// the controller and a simulated EC2: every command of every page runs, prints what the page
// says, and leaves nothing behind.
package tasks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/harness"
	"spokeshave.dev/test/kit/page"
	"spokeshave.dev/test/kit/sharedstack"
	"spokeshave.dev/test/kit/source"
)

// clusters are where pages are followed: on each every other one, one after the other.
var clusters []*harness.Stack

// options are those of each cluster.
func options() harness.Options {
	return harness.Options{BootDelay: 300 * time.Millisecond, Log: os.Stderr}
}

func TestMain(m *testing.M) {
	os.Exit(sharedstack.Main(m, options(), func(ctx context.Context, first *harness.Stack) (int, error) {
		second, err := harness.Start(ctx, options())
		if err != nil {
			return 1, err
		}
		defer func() { _ = second.Stop() }() // the tests have ended
		ends, end := context.WithCancel(ctx)
		defer end()
		for _, s := range []*harness.Stack{first, second} {
			if err := prepare(ends, s); err != nil {
				return 1, err
			}
			clusters = append(clusters, s)
		}
		return m.Run(), nil
	}))
}

// prepare makes a cluster as docs/install.md leaves one, and keeps its release's values.
func prepare(ctx context.Context, s *harness.Stack) error {
	if err := s.Quickstart(ctx); err != nil {
		return err
	}
	values, err := s.Helm(ctx, "get", "values", "spokeshave", "--namespace", harness.Namespace, "--output", "yaml")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.Cluster.Dir, "values.yaml"), []byte(values), 0o600); err != nil {
		return fmt.Errorf("keep the release's values: %w", err)
	}
	go func() { _ = s.PlayKubelet(ctx, os.Stderr) }() // until the tests end
	return nil
}

// TestPages follows each page from its first command to its last.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	root, err := source.Root()
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(root, "docs", "tasks", "*.md"))
	if err != nil || len(names) < 20 {
		t.Fatalf("docs/tasks has %d pages, want twenty at least: %v", len(names), err)
	}
	for c, cluster := range clusters {
		t.Run(fmt.Sprint("cluster", c+1), func(t *testing.T) {
			t.Parallel()
			for i, name := range names {
				if i%len(clusters) == c {
					t.Run(strings.TrimSuffix(filepath.Base(name), ".md"), func(t *testing.T) {
						(&reader{stack: cluster, root: root, folder: folder(t, root)}).page(t, name)
					})
				}
			}
		})
	}
}

// page follows a page, which has to leave nothing behind.
func (r *reader) page(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := page.Steps(string(text))
	if err != nil {
		t.Fatal(err)
	}
	before := r.pools(t)
	defer func() {
		if t.Failed() {
			r.reset(t)
		}
	}()
	for _, s := range steps {
		start := time.Now()
		if err := r.follow(t.Context(), s); err != nil {
			t.Fatalf("%s:%d: %v\n%s", filepath.Base(name), s.Line, err, r.stack.Diagnosis(t.Context()))
		}
		t.Logf("line %d: %s", s.Line, time.Since(start).Round(100*time.Millisecond))
	}
	if after := r.pools(t); after != before {
		t.Errorf("the page leaves NodePools %s, and began with %s", after, before)
	}
	r.empty(t)
}

// reader follows a page in a folder that looks like a checkout.
type reader struct {
	stack        *harness.Stack
	root, folder string
}

func folder(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"charts", "examples", "policies"} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// patience is how long commands may take to print what the page says. They are run again
// and again until they do, as a reader would; those of which the page shows nothing run
// once and have to succeed.
const patience = 90 * time.Second

func (r *reader) follow(ctx context.Context, s page.Step) error {
	if s.Prints == nil {
		out, err := r.shell(ctx, s.Commands)
		if err != nil {
			return fmt.Errorf("%w\n%s%s", err, s.Commands, out)
		}
		return nil
	}
	last := ""
	return r.stack.Until(ctx, "what the page shows", patience, func(ctx context.Context) (string, bool) {
		out, err := r.shell(ctx, s.Commands)
		missing := page.Missing(s.Prints, out)
		if missing != "" { // each run starts several programs: a second more than the poll waits
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
		last = fmt.Sprintf("%v; the line %q is missing in what these commands print:\n%s%s", err, missing, s.Commands, out)
		return last, missing == ""
	})
}

// shell runs commands with bash, and returns all that they print.
func (r *reader) shell(ctx context.Context, commands string) (string, error) {
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", commands)
	cmd.Dir = r.folder
	cmd.Env = append(os.Environ(), "STATE="+r.stack.Cluster.Dir, "KUBECONFIG="+r.stack.Cluster.Kubeconfig, "CHART=charts/spokeshave", "SPOKESHAVE_SERVER="+r.stack.MetricsURL(),
		"PATH="+strings.Join([]string{r.stack.CommandLineDir(), r.stack.Cluster.Binaries.Dir, os.Getenv("PATH")}, string(os.PathListSeparator)),
		"HELM_CACHE_HOME="+r.stack.Cluster.Dir, "HELM_CONFIG_HOME="+r.stack.Cluster.Dir, "HELM_DATA_HOME="+r.stack.Cluster.Dir)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("exit code %d", exit.ExitCode())
	}
	return string(out), err
}

// reset takes away what a page has left that was not followed to its end, so that the next
// one says how it stands itself.
func (r *reader) reset(t *testing.T) {
	out, err := r.shell(t.Context(), `helm upgrade spokeshave $CHART --namespace spokeshave --reset-values --values "$STATE/values.yaml"
kubectl delete namespace shop lab ml payments --ignore-not-found
kubectl delete deployment,job,pod --all --namespace default
kubectl delete nodepools --all
kubectl --namespace spokeshave delete configmap prefer-graviton --ignore-not-found
`)
	if err == nil {
		err = r.stack.Quickstart(t.Context())
	}
	if err != nil {
		t.Logf("take away what the page has left: %v\n%s", err, out)
	}
}

func (r *reader) pools(t *testing.T) string {
	t.Helper()
	var list karpv1.NodePoolList
	if err := r.stack.Client.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return strings.Join(names, ", ")
}

// empty removes the nodes that a page has left, so that the next one begins like it.
func (r *reader) empty(t *testing.T) {
	t.Helper()
	if err := r.stack.Client.DeleteAllOf(t.Context(), &karpv1.NodeClaim{}); err != nil {
		t.Fatal(err)
	}
	if err := r.stack.Until(t.Context(), "all nodes to go", 2*time.Minute, func(ctx context.Context) (string, bool) {
		var list karpv1.NodeClaimList
		err := r.stack.Client.List(ctx, &list, client.Limit(5))
		return fmt.Sprintf("%d are left, %v", len(list.Items), err), err == nil && len(list.Items) == 0
	}); err != nil {
		t.Fatal(err)
	}
}
