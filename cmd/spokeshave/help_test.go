package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/record/journal"
	"spokeshave.dev/controller/record/observe"
	"spokeshave.dev/controller/rehearse/scenario"
)

// leaves returns the commands without subcommands, and those that do something without one.
func leaves(c *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, sub := range c.Commands() {
		if sub.Name() == "completion" || sub.Name() == "help" { // cobra's own
			continue
		}
		if sub.HasSubCommands() {
			out = append(out, leaves(sub)...)
		}
		if !sub.HasSubCommands() || sub.Flags().Lookup("output") != nil {
			out = append(out, sub)
		}
	}
	return out
}

// TestHelp: the help of every command has a description, an example, JSON output and
// exit codes. An unknown output format is exit code 2.
func TestHelp(t *testing.T) {
	all := leaves(rootCommand(t.Context()))
	if len(all) < 10 {
		t.Fatalf("%d commands were found, want at least 10", len(all))
	}
	for _, c := range all {
		path := strings.Fields(c.CommandPath())[1:]
		t.Run(strings.Join(path, " "), func(t *testing.T) {
			code, stdout, stderr := command(t, append(path, "--help")...)
			if code != exitOK || stderr != "" {
				t.Errorf("--help: exit %d: %s", code, stderr)
			}
			for _, want := range []string{"Exit codes: 0 ", "Examples:\n", "\n  spokeshave " + strings.Join(path, " ") + " ", "-o, --output", "json"} {
				if !strings.Contains(strings.ReplaceAll(stdout, strings.Join(path, " ")+"\n", strings.Join(path, " ")+" \n"), want) {
					t.Errorf("the help has no %q:\n%s", want, stdout)
				}
			}
			if code, _, stderr := command(t, append(path, "--no-such-flag")...); code != exitBadInput || !strings.Contains(stderr, "unknown flag") {
				t.Errorf("an unknown flag: exit %d: %s", code, stderr)
			}
		})
	}
}

// api is a cluster that also accepts policies, and a controller that loads them.
type api struct {
	*cluster

	mu     sync.Mutex
	status map[string]string
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method == http.MethodPatch:
		var cm corev1.ConfigMap
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &cm)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		text, err := json.Marshal(policy.Status{Namespace: cm.Namespace, Name: cm.Name, State: policy.StateActive, Hash: load.Hash(&cm), Revision: load.Hash(&cm)})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		a.status[cm.Namespace+"."+cm.Name] = string(text)
		_, _ = w.Write(body)
	case strings.HasSuffix(r.URL.Path, "/configmaps/"+load.StatusName):
		_ = json.NewEncoder(w).Encode(corev1.ConfigMap{Data: a.status})
	default:
		a.cluster.ServeHTTP(w, r)
	}
}

// controller serves what explain, observe and failures request.
func controller(t *testing.T) string {
	t.Helper()
	best := model.Option{InstanceType: "c7g.large", Zone: "us-west-2a", CapacityType: model.OnDemand, Price: 72_500, Effective: 0.0725}
	entries := []journal.Entry{{ID: "d1", Nodes: []journal.Node{{Claim: "general-1a2b3c4d", NodePool: "general", Pods: []string{"shop/web-5d9c7"}, Best: best}}}}
	var seen observe.Observer
	for minute := range 3 {
		seen.Add(&model.Snapshot{Time: time.Date(2026, 3, 11, 9, minute, 0, 0, time.UTC)}, &decide.Decision{})
	}
	mux := http.NewServeMux()
	mux.Handle("/observed", &seen)
	mux.HandleFunc("/decisions", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(entries) })
	_, failed := record(t)
	mux.HandleFunc("/failures", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode([]json.RawMessage{failed}) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// record returns a decision on the quickstart as the decision log contains it.
func record(t *testing.T) (id string, line []byte) {
	t.Helper()
	objects, err := scenario.Read("../../examples/quickstart")
	if err != nil {
		t.Fatal(err)
	}
	s, err := objects.Snapshot(scenario.Options{Time: time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	d, err := decide.Decide(t.Context(), &s, nil, decide.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := journal.Decided{Snapshot: &s, Decision: &d}
	r, err := journal.NewRecord(&in)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Keep(&in, "spokeshave"); err != nil {
		t.Fatal(err)
	}
	if line, err = json.Marshal(r); err != nil {
		t.Fatal(err)
	}
	return d.ID, append(line, '\n')
}

// eksctlFile describes a node group.
const eksctlFile = `apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: shop, region: us-east-1}
managedNodeGroups:
- {name: web, instanceTypes: [m5.2xlarge], maxSize: 100, iam: {instanceRoleName: nodes}}
`

// workplace creates a folder with all files that the examples name.
func workplace(t *testing.T) (decision string) {
	t.Helper()
	dir := t.TempDir()
	copied := func(to, from string) {
		if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	read := func(path string) []byte {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	decision, log := record(t)
	copied("examples", "../../examples")
	for _, name := range []string{"budget", "keep-protected"} { // the others are tested where they are
		copied("policies/"+name, "../../policies/"+name)
	}
	copied("mine/budget", "../../policies/budget")
	copied("budget", "../../policies/budget")
	copied("manifests", "../../examples/quickstart")
	quickstart := "../../examples/quickstart/"
	pools := append(append(read(quickstart+"nodepool.yaml"), "\n---\n"...), read(quickstart+"nodeclass.yaml")...)
	app := read(quickstart + "workloads.yaml")
	if err := os.Mkdir(filepath.Join(dir, "pools"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("pools/pools.yaml", pools)
	write("pools.yaml", pools)
	write("app.yaml", app)
	write("cluster.yaml", append(append(pools, "\n---\n"...), app...))
	for _, name := range []string{"budget.yaml", "old.yaml", "new.yaml"} {
		write(name, read("../../examples/rego-budget/configmap.yaml"))
	}
	write("workloads.yaml", []byte(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 3, selector: {matchLabels: {app: web}},
template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c, resources: {requests: {cpu: "1"}}}]}}}}`))
	write("groups.yaml", []byte(eksctlFile))
	write("groups.json", []byte(`{"AutoScalingGroups": [{"AutoScalingGroupName": "web", "MinSize": 0, "MaxSize": 100, "AvailabilityZones": ["us-east-1a"], "VPCZoneIdentifier": "subnet-1",
"LaunchTemplate": {"LaunchTemplateId": "lt-1", "Version": "$Latest"}}]}`))
	write("templates.json", []byte(`{"LaunchTemplateVersions": [{"LaunchTemplateId": "lt-1", "VersionNumber": 1, "LaunchTemplateData": {"InstanceType": "m5.2xlarge", "ImageId": "ami-1"}}]}`))
	write("decisions.jsonl", log)
	write("spend.yaml", []byte(`{"kind":"List","items":[`+strings.Join(slices.Collect(maps.Values(spendObjects(t))), ",")+`]}`))
	write("trace.jsonl", []byte(`{"arrival":"1m","lifetime":"1h","count":3,"workload":"web","cpu":"500m","memory":"1Gi"}`+"\n"))
	t.Chdir(dir)
	return decision
}

// TestExamples runs every example of every help text. It replaces only the controller's
// address and the durations of benchmarks and traces.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("builds guests and runs backtests")
	}
	all := leaves(rootCommand(t.Context()))
	guest, err := filepath.Abs("../../examples/wasm-rank-go") // it builds within its module only
	if err != nil {
		t.Fatal(err)
	}
	server := controller(t)
	simulated := small()
	simulated.objects = spendObjects(t)
	cluster := httptest.NewServer(&api{cluster: simulated, status: map[string]string{}})
	t.Cleanup(cluster.Close)
	decision := workplace(t)
	kubeconfig := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
"clusters":[{"name":"c","cluster":{"server":%q}}],"users":[{"name":"u","user":{}}]}`, cluster.URL)
	if err := os.WriteFile("kubeconfig", []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", "kubeconfig")
	for _, c := range all {
		ran := 0
		for line := range strings.SplitSeq(strings.ReplaceAll(c.Example, "\\\n", " "), "\n") {
			line, _, _ = strings.Cut(line, " | ")
			line, file, toFile := strings.Cut(line, " > ")
			args := strings.Fields(line)
			if len(args) == 0 || args[0] != "spokeshave" { // a comment, or somebody else's program
				continue
			}
			ran++
			args = args[1:]
			for i := range args {
				switch args[i] {
				case "examples/wasm-rank-go":
					args[i] = guest
				case "http://127.0.0.1:8083":
					args[i] = server
				case "3f1c":
					args[i] = decision[:6]
				case "3s":
					args[i] = "1ms"
				}
			}
			if c.Flags().Lookup("server") != nil && !strings.Contains(line, "--server") {
				args = append(args, "--server", server)
			}
			if c.Name() == "backtest" {
				args = append(args, "--for", "2h")
			}
			if i := slices.Index(args, "--watch"); i >= 0 { // it would go on until Ctrl-C
				args = slices.Delete(args, i, i+2)
			}
			code, stdout, stderr := command(t, args...)
			if code != exitOK || stdout == "" && !toFile {
				t.Errorf("%s: exit %d: %s%s", strings.TrimSpace(line), code, stdout, stderr)
			}
			if strings.Contains(line, "-o json") && !json.Valid([]byte(stdout)) {
				t.Errorf("%s: no JSON: %s", line, stdout)
			}
			if toFile {
				if err := os.WriteFile(strings.TrimSpace(file), []byte(stdout), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		if ran == 0 {
			t.Errorf("%s has no example of itself", c.CommandPath())
		}
	}
}
