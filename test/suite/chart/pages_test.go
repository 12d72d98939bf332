package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/test/kit/controlplane"
)

// TestPages: every helm command of the pages renders, with the values as they are written
// there, and names the namespace. Those of docs/tasks are run where these are followed.
func TestPages(t *testing.T) {
	h := newHelm(t)
	found := 0
	for _, c := range commandsOfPages(t) {
		if !strings.HasPrefix(c.text, "helm ") {
			continue
		}
		if !strings.Contains(c.text, "--namespace ") {
			t.Errorf("%s: without a namespace Helm looks into that of the kubeconfig: %s", c.page, c.text)
		}
		if strings.HasPrefix(c.text, "helm install ") || strings.HasPrefix(c.text, "helm upgrade ") {
			found++
			t.Run(c.page, func(t *testing.T) { h.rendersCommand(t, c.text) })
		}
	}
	if found < 10 {
		t.Errorf("%d commands were found, want at least 10", found)
	}
}

// TestKubectlOfPages: kubectl knows the verbs and flags of every command of the pages. It is
// given a server that nobody listens on, so that it gets no further.
func TestKubectlOfPages(t *testing.T) {
	bins, err := controlplane.Build(t.Context(), t.Output())
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("no kubectl to test with: %v", err)
	}
	dir := t.TempDir() // looks like a checkout in which the pages' files have been made
	for _, name := range []string{"charts", "examples"} {
		from, err := filepath.Abs(filepath.Join("../../..", name))
		if err == nil {
			err = os.Symlink(from, filepath.Join(dir, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "nodepools.yaml"), []byte("{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: web}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, c := range commandsOfPages(t) {
		command, _, _ := strings.Cut(c.text, " | ")
		command, _, _ = strings.Cut(command, " > ")
		if !strings.HasPrefix(command, "kubectl ") || strings.HasPrefix(command, "kubectl krew ") {
			continue
		}
		found++
		cmd := exec.CommandContext(t.Context(), "bash", "-c", "kubectl() { exec "+bins.Kubectl+` --server=http://127.0.0.1:1 "$@"; }; `+command)
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
		for _, name := range []string{"NAMESPACE", "DEPLOYMENT", "NODES", "GROUP"} {
			cmd.Env = append(cmd.Env, name+"=x")
		}
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "refused") {
			t.Errorf("%s: %s: %v: %s", c.page, command, err, out)
		}
	}
	if found < 20 {
		t.Errorf("%d commands were found, want at least 20", found)
	}
}

// command is a command of a page.
type command struct{ page, text string }

// commandsOfPages returns the commands in indented blocks of all pages but those of
// docs/tasks. A line that ends in a backslash goes on in the next one.
func commandsOfPages(t *testing.T) []command {
	t.Helper()
	const root = "../../.."
	pages, err := filepath.Glob(root + "/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"docs/*.md", "docs/concepts/*.md", "docs/migrate/*.md", "docs/contributing/*.md", "docs/cookbook/*.md", "examples/*/*.md"} {
		more, err := filepath.Glob(filepath.Join(root, folder))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, more...)
	}
	var out []command
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(root, page)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
			if strings.HasPrefix(line, "    ") {
				out = append(out, command{name, strings.Join(strings.Fields(line), " ")})
			}
		}
	}
	return out
}

func (h helm) rendersCommand(t *testing.T, command string) {
	t.Helper()
	file := values(t, "settings: {clusterName: shop}\n")
	release := stamped(t)
	command = strings.NewReplacer("oci://$REGISTRY/charts/spokeshave-crds --version $VERSION", crdsDir, "oci://$REGISTRY/charts/spokeshave --version $VERSION", release, "oci://HOST/PATH/charts/spokeshave", release, "oci://127.0.0.1:5000/spokeshave/charts/spokeshave --version 0.0.1-rc.1 --plain-http", release, "=NAME", "=shop", "$TAG", "v9", "$CLUSTER", "shop", "$CHART", chartDir, "charts/spokeshave", chartDir, "$REGISTRY", "registry.example", "$ACCOUNT", "111122223333",
		"--values values.yaml", "--values "+file, "--reset-then-reuse-values", "--values "+file, "--reuse-values", "--values "+file+" --set controller.image.repository=registry.example/controller", "helm install", "template", "helm upgrade", "template").Replace(command)
	args := words(command)
	if slices.Contains(args, crdsDir) {
		if objs := parse(t, h.must(t, args...)); len(objs) != 3 {
			t.Errorf("%s: %d definitions", command, len(objs))
		}
		return
	}
	objs := parse(t, h.must(t, args...))
	account := get[corev1.ServiceAccount](t, objs, "ServiceAccount/spokeshave/spokeshave")
	if strings.Contains(command, "role-arn") != (account.Annotations["eks.amazonaws.com/role-arn"] == "arn:aws:iam::111122223333:role/SpokeshaveController-shop") {
		t.Errorf("%s: the service account has the annotations %v", command, account.Annotations)
	}
}

// words splits a command as a shell does, where nothing but single quotes is special.
func words(command string) []string {
	var out []string
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}
