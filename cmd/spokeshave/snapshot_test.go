package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/rehearse/scenario"
)

// cluster serves lists as an API server does, with one object per page.
type cluster struct {
	mu    sync.Mutex
	lists map[string][]string // objects by path
	// objects are responses for single objects, by path.
	objects map[string]string
	asked   []string
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, r.Method+" "+r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	if text, ok := c.objects[r.URL.Path]; ok {
		_, _ = w.Write([]byte(text))
		return
	}
	items, ok := c.lists[r.URL.Path]
	if !ok {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"no"}`))
		return
	}
	at := 0
	_, _ = fmt.Sscan(r.URL.Query().Get("continue"), &at)
	next, item := "", ""
	if at < len(items) {
		item = items[at]
		if at+1 < len(items) {
			next = fmt.Sprint(at + 1)
		}
	}
	_, _ = fmt.Fprintf(w, `{"metadata":{"continue":%q},"items":[%s]}`, next, item)
}

// serve starts a cluster and returns its kubeconfig.
func (c *cluster) serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	return kubeconfigOf(t, server.URL)
}

// kubeconfigOf writes a kubeconfig for a server and returns its path.
func kubeconfigOf(t *testing.T, url string) string {
	t.Helper()
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
"clusters":[{"name":"c","cluster":{"server":%q}}],"users":[{"name":"u","user":{}}]}`, url)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func small() *cluster {
	pod := func(name, more string) string {
		return fmt.Sprintf(`{"metadata":{"namespace":"shop","name":%q,"uid":%q},"spec":{"containers":[{"name":"c","image":"private/image","env":[{"name":"PASSWORD","value":"hunter2"}],
"resources":{"requests":{"cpu":"1","memory":"1Gi"}}}]},"status":{"phase":"Pending"%s},"aFieldOfTomorrow":1}`, name, name, more)
	}
	tried := `,"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]`
	return &cluster{lists: map[string][]string{
		"/apis/karpenter.sh/v1/nodepools": {`{"metadata":{"name":"payments"},"spec":{"template":{"spec":{"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"default"},
"requirements":[{"key":"topology.kubernetes.io/zone","operator":"In","values":["eu-west-1a"]}]}}}}`},
		"/apis/karpenter.sh/v1/nodeclaims":          nil,
		"/api/v1/nodes":                             nil,
		"/api/v1/pods":                              {pod("web-1", tried), pod("web-2", tried), pod("web-3", "")},
		"/apis/apps/v1/daemonsets":                  nil,
		"/apis/apps/v1/deployments":                 nil,
		"/apis/karpenter.k8s.aws/v1/ec2nodeclasses": {`{"metadata":{"name":"default"},"spec":{"role":"nodes"}}`},
		"/api/v1/namespaces/spokeshave/configmaps": {`{"metadata":{"name":"least","namespace":"spokeshave","managedFields":[]},"data":{
"policy.yaml":"apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [ceiling]\nengine: rego\n","p.rego":"package spokeshave.ceiling\n\ncap[\"cluster\"] := {\"hourly_usd\": 100}\n"}}`},
	}}
}

// TestSnapshot: a snapshot of a cluster can be simulated with the policies of the
// cluster. Only GET requests are sent, and none for a Secret.
func TestSnapshot(t *testing.T) {
	c := small()
	config := c.serve(t)
	code, stdout, stderr := command(t, "snapshot", "--kubeconfig", config)
	if code != exitOK || !strings.Contains(stderr, "/api/v1/limitranges is left out: Forbidden") || !strings.Contains(stderr, "1 NodePools, 0 nodes, 2 pods, 1 policies") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, asked := range c.asked {
		if !strings.HasPrefix(asked, "GET ") || strings.Contains(strings.ToLower(asked), "secret") {
			t.Errorf("asked: %s", asked)
		}
	}
	path := filepath.Join(t.TempDir(), "cluster.json.gz")
	if err := os.WriteFile(path, []byte(stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	for flag, value := range map[string]string{"--time": "2026-01-01T00:00:00Z", "--preference-policy": "Respect", "--min-values-policy": "BestEffort"} {
		want := "a Snapshot has its own time and settings: " + flag + " does not go with it"
		if code, _, stderr := command(t, "simulate", "-f", path, flag, value); code != exitBadInput || !strings.Contains(stderr, want) {
			t.Errorf("%s is not refused: exit %d: %s", flag, code, stderr)
		}
	}
	decisions := map[string]bool{}
	for _, seed := range []string{"", "1", "2"} {
		args := []string{"simulate", "-f", path, "-o", "json"}
		if seed != "" {
			args = append(args, "--seed", seed)
		}
		var r scenario.Report
		if _, stdout, _ := command(t, args...); json.Unmarshal([]byte(stdout), &r) == nil {
			decisions[r.Decision] = true
		}
	}
	if len(decisions) != 3 {
		t.Errorf("--seed does not reach the decision: %v", decisions)
	}
	code, stdout, stderr = command(t, "simulate", "-f", path, "-o", "json")
	var report scenario.Report
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != exitOK {
		t.Fatalf("exit %d, %v: %s", code, err, stderr)
	}
	// A pod that the scheduler has not tried yet does not count as pending.
	if report.Pods != 2 || len(report.Unscheduled) != 0 || len(report.Nodes) == 0 || report.Nodes[0].Zone != "eu-west-1a" || len(report.Policies) != 1 || report.EBSCost == 0 {
		t.Errorf("%+v", report)
	}
}

// TestSnapshotPlugins: policies in plugin namespaces are found by the controller's
// status or by name; policies that it rejected are left out.
func TestSnapshotPlugins(t *testing.T) {
	ranks := func(name string) string {
		return fmt.Sprintf(`{"metadata":{"namespace":"team","name":%q},"data":{"policy.yaml":"apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [rank]\nengine: rego\n","p.rego":"package spokeshave.rank\n"}}`, name)
	}
	for name, tc := range map[string]struct {
		reason string
		status string
		args   []string
		want   []string
	}{
		"status": {
			reason: "the controller says where its policies are",
			status: `{"data":{"team.green":"{\"namespace\":\"team\",\"name\":\"green\",\"state\":\"Active\"}","team.cap":"{\"namespace\":\"team\",\"name\":\"cap\",\"state\":\"Rejected\",\"reason\":\"no caps here\"}"}}`,
			want:   []string{"spokeshave/least", "team/green"},
		},
		"named": {reason: "where it says nothing, the user does", args: []string{"--plugin-namespaces", "team"}, want: []string{"spokeshave/least", "team/cap", "team/green"}},
		"none":  {reason: "other namespaces are nobody's business", want: []string{"spokeshave/least"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := small()
			c.lists["/api/v1/namespaces/team/configmaps"] = []string{ranks("cap"), ranks("green")}
			if tc.status != "" {
				c.objects = map[string]string{"/api/v1/namespaces/spokeshave/configmaps/spokeshave-policy-status": tc.status}
			}
			code, stdout, stderr := command(t, append([]string{"snapshot", "--kubeconfig", c.serve(t), "-o", "json"}, tc.args...)...)
			var got scenario.Taken
			if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != exitOK {
				t.Fatalf("exit %d, %v: %s", code, err, stderr)
			}
			var names []string
			for _, cm := range got.Policies {
				names = append(names, cm.Namespace+"/"+cm.Name)
			}
			if diff := cmp.Diff(tc.want, names); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
			if told := strings.Contains(stderr, "policy team/cap is left out: the controller rejected it: no caps here"); told != (tc.status != "") {
				t.Errorf("what is left out is not told, or what is not: %s", stderr)
			}
		})
	}
}

func TestSnapshotAnonymous(t *testing.T) {
	config := small().serve(t)
	code, stdout, stderr := command(t, "snapshot", "--kubeconfig", config, "--anonymize", "-o", "json", "-q", "--cluster-name", "acme-prod")
	if code != exitOK || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, name := range []string{"payments", "web-", "shop", "hunter2", "private/image", "hourly_usd", "acme"} {
		if strings.Contains(stdout, name) {
			t.Errorf("%s is in it", name)
		}
	}
}

func TestSnapshotRefused(t *testing.T) {
	c := small()
	delete(c.lists, "/api/v1/pods")
	code, stdout, stderr := command(t, "snapshot", "--kubeconfig", c.serve(t))
	if code != exitBadInput || stdout != "" || !strings.Contains(stderr, "list /api/v1/pods: ") {
		t.Errorf("exit %d, %q: %s", code, stdout, stderr)
	}
	if code, _, stderr = command(t, "snapshot", "--kubeconfig", "none.yaml"); code != exitBadInput || !strings.Contains(stderr, "none.yaml") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
