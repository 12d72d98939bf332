package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"spokeshave.dev/controller/rehearse/doctor"
)

const deployed = `{"metadata":{"name":"karpenter","namespace":"kube-system","labels":{"app.kubernetes.io/name":"karpenter"}},"spec":{"replicas":1,"template":{"spec":{"containers":[
{"name":"controller","image":"karpenter/controller:1.14.1","env":[{"name":"CLUSTER_NAME","value":"prod"},{"name":"AWS_REGION","value":"eu-west-1"},{"name":"CPU_REQUESTS","value":"1000"},{"name":"BATCH_IDLE_DURATIONS","value":"1s"}]}]}}},"status":{"readyReplicas":1}}`

// diagnose runs doctor and returns its report.
func diagnose(t *testing.T, want int, args ...string) doctor.Report {
	t.Helper()
	code, stdout, stderr := command(t, append([]string{"doctor", "-o", "json", "--last", "0"}, args...)...)
	var r doctor.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != want {
		t.Fatalf("doctor %v: exit %d, want %d: %v %s", args, code, want, err, stderr)
	}
	return r
}

// person returns the subjects of the findings that need a person.
func person(r *doctor.Report) []string {
	var out []string
	for _, f := range r.Findings {
		if f.Person {
			out = append(out, f.Subject)
		}
	}
	return out
}

// TestDoctor: a live cluster is only read, its Karpenter is found, and its settings are
// judged as the controller judges its own.
func TestDoctor(t *testing.T) {
	c := small()
	c.lists["/apis/apps/v1/deployments"] = []string{deployed}
	r := diagnose(t, exitUnscheduled, "--kubeconfig", c.serve(t))
	if r.Karpenter == nil || r.Karpenter.Version != "1.14.1" || len(r.Pools) != 1 || r.Money == nil || r.Money.Waiting != 2 {
		t.Errorf("Karpenter %+v, NodePools %v, money %+v", r.Karpenter, r.Pools, r.Money)
	}
	if got := person(&r); !slices.Equal(got, []string{"environment variable BATCH_IDLE_DURATIONS"}) {
		t.Errorf("to do first: %v", got)
	}
	if !slices.ContainsFunc(r.Findings, func(f doctor.Finding) bool { return strings.Contains(f.Subject, "CPU_REQUESTS") && !f.Person }) {
		t.Errorf("CPU_REQUESTS has no effect, and nothing says so: %+v", r.Findings)
	}
	for _, asked := range c.asked {
		if !strings.HasPrefix(asked, "GET ") || strings.Contains(strings.ToLower(asked), "secret") {
			t.Errorf("asked: %s", asked)
		}
	}
}

// TestDoctorForbidden: what may not be read is named with the permission that is missing,
// and the rest is reported.
func TestDoctorForbidden(t *testing.T) {
	c := small()
	delete(c.lists, "/apis/karpenter.sh/v1/nodeclaims")
	delete(c.lists, "/api/v1/nodes")
	r := diagnose(t, exitUnscheduled, "--kubeconfig", c.serve(t))
	if got := person(&r); !slices.Equal(got, []string{"nodeclaims.karpenter.sh", "nodes"}) || len(r.Pools) != 1 {
		t.Errorf("to do first: %v; NodePools: %v", got, r.Pools)
	}
	for _, want := range []string{"list on nodeclaims.karpenter.sh in all namespaces", "list on leases.coordination.k8s.io in all namespaces"} {
		if !slices.ContainsFunc(r.Findings, func(f doctor.Finding) bool { return strings.Contains(f.Remedy, want) }) {
			t.Errorf("nothing says %q", want)
		}
	}
}

// TestDoctorBadObject: an object that cannot be decoded does not stop the others.
func TestDoctorBadObject(t *testing.T) {
	c := small()
	pools := c.lists["/apis/karpenter.sh/v1/nodepools"]
	c.lists["/apis/karpenter.sh/v1/nodepools"] = append([]string{`{"metadata":{"name":"odd"},"spec":{"weight":"heavy"}}`}, pools...)
	r := diagnose(t, exitUnscheduled, "--kubeconfig", c.serve(t))
	if got := person(&r); !slices.Equal(got, []string{"nodepools odd"}) || len(r.Pools) != 1 {
		t.Errorf("to do first: %v; NodePools: %v", got, r.Pools)
	}
}

// TestDoctorFiles: files are read in place of a cluster; one that cannot be read does not
// stop the others.
func TestDoctorFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, bad := write("good.yaml", "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: default}\nspec: {role: r}\n"), write("bad.yaml", "kind: Pod\napiVersion: v1\nmetadata: {name: a}\nspec: {nodeNames: x}\n")
	if r := diagnose(t, exitOK, "-f", good); len(r.Unseen) == 0 {
		t.Error("the report does not say that no cluster was read")
	}
	r := diagnose(t, exitUnscheduled, "-f", good, "-f", bad, "-f", filepath.Join(dir, "none.yaml"))
	if got := person(&r); len(got) != 2 || !strings.HasSuffix(got[0], "bad.yaml:4") || !strings.HasSuffix(got[1], "none.yaml") {
		t.Errorf("to do first: %v", got)
	}
	snapshot := small().serve(t)
	_, taken, _ := command(t, "snapshot", "-o", "json", "-q", "--kubeconfig", snapshot)
	if r := diagnose(t, exitOK, "-f", write("taken.json", taken)); len(r.Pools) != 1 || r.Money == nil || r.Money.Waiting != 2 {
		t.Errorf("of a snapshot: %+v, %+v", r.Pools, r.Money)
	}
}

// TestDoctorPermissions: a policy is judged for the cluster's own names, given or of
// Karpenter's settings.
func TestDoctorPermissions(t *testing.T) {
	c := small()
	c.lists["/apis/apps/v1/deployments"] = []string{strings.ReplaceAll(deployed, "BATCH_IDLE_DURATIONS", "BATCH_IDLE_DURATION")}
	config := c.serve(t)
	own := "../../examples/iam/controller-policy.json"
	if r := diagnose(t, exitOK, "--kubeconfig", config, "--iam-policy", own); r.Permissions == nil || len(r.Permissions.Missing) > 0 || r.Permissions.Account.Cluster != "prod" {
		t.Errorf("permissions: %+v", r.Permissions)
	}
	text, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	for from, to := range map[string]string{"${cluster}": "another", "${account}": "210987654321"} {
		text = []byte(strings.ReplaceAll(string(text), from, to))
	}
	if err := os.WriteFile(other, text, 0o600); err != nil {
		t.Fatal(err)
	}
	r := diagnose(t, exitUnscheduled, "--kubeconfig", config, "--iam-policy", other)
	if got := person(&r); !slices.Contains(got, "ec2:CreateFleet") || slices.Contains(got, "pricing:GetProducts") || r.Permissions.Account.Account != "210987654321" {
		t.Errorf("to do first: %v, in %+v", got, r.Permissions.Account)
	}
	r = diagnose(t, exitUnscheduled, "--kubeconfig", small().serve(t), "--iam-policy", own)
	if got := person(&r); !slices.Equal(got, []string{"permissions"}) || r.Permissions != nil {
		t.Errorf("without a name of the cluster: %v", got)
	}
}

// TestDoctorBadInput: bad input says what, where and what to do, and prints nothing else.
func TestDoctorBadInput(t *testing.T) {
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	empty, broken := t.TempDir(), filepath.Join(t.TempDir(), "broken.json")
	if err := os.WriteFile(broken, []byte(`{"Statement": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	config := kubeconfigOf(t, dead.URL)
	for name, tc := range map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"no kubeconfig":  {"the file is named", []string{"--kubeconfig", filepath.Join(empty, "none")}, "none"},
		"no cluster":     {"nothing answers", []string{"--kubeconfig", config}, "list nodepools.karpenter.sh"},
		"no file":        {"nothing was read", []string{"-f", filepath.Join(empty, "none.yaml")}, "none.yaml"},
		"empty folder":   {"nothing is there", []string{"-f", empty}, "holds no .yaml"},
		"no policy":      {"an IAM policy without a statement", []string{"--iam-policy", broken}, "it has no statement; want the JSON of one policy"},
		"two prices":     {"one of the two", []string{"--catalog", "x", "--region", "y"}, "exclude each other"},
		"files and more": {"files are no cluster", []string{"-f", empty, "--context", "x"}, "do not go with it"},
		"last":           {"a time before now", []string{"--last", "-1h"}, "want 0 or more"},
	} {
		t.Run(name, func(t *testing.T) {
			if code, stdout, stderr := command(t, append([]string{"doctor"}, tc.args...)...); code != exitBadInput || stdout != "" || !strings.Contains(stderr, tc.want) {
				t.Errorf("%s: exit %d: %s%s; want %q", tc.reason, code, stdout, stderr, tc.want)
			}
		})
	}
}
