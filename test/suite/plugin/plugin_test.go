// Package plugin tests `kubectl spokeshave …`: the real kubectl finds the
// plugin, a real API server decides by RBAC who may ask, and forwards the port
// of the replica that leads.
package plugin

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/record/journal"
	"spokeshave.dev/controller/record/observe"
	"spokeshave.dev/controller/rehearse/scenario"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/controlplane"
	"spokeshave.dev/test/kit/user"
)

const namespace = "spokeshave"

// explainedCluster is a cluster in which a controller leads that has decided about the
// quickstart.
type explainedCluster struct {
	*testing.T

	cluster *controlplane.Cluster
	client  client.Client
	tools   *user.Tools
	pod     string // a pod that got a node
	pool    string
}

func newCluster(t *testing.T) *explainedCluster {
	t.Helper()
	l := &explainedCluster{T: t, cluster: controlplane.ForTest(t, false)}
	l.client = apiserver.On(t, l.cluster).Client(t)
	user.Create(t, l.client,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}},
	)
	user.Lead(t, l.client, user.Leader{Namespace: namespace, Lease: "spokeshave-leader-election", Pod: "spokeshave-0", Target: l.controller()})
	l.tools = user.Install(t, l.cluster.Binaries.Kubectl, "../../../cmd/spokeshave")
	return l
}

// controller serves the journal of a real decision, as the metrics port does,
// and returns its address.
func (l *explainedCluster) controller() string {
	l.Helper()
	objects, err := scenario.Read("../../../examples/quickstart")
	if err != nil {
		l.Fatal(err)
	}
	s, err := objects.Snapshot(scenario.Options{Time: time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)})
	if err != nil {
		l.Fatal(err)
	}
	d, err := decide.Decide(l.Context(), &s, nil, decide.Options{Explain: true})
	if err != nil {
		l.Fatal(err)
	}
	decisions, seen := journal.New(10, 32<<20), &observe.Observer{}
	decisions.Add(l.Context(), &s, &d)
	seen.Add(&s, &d)
	l.pod, l.pool = s.Pods[d.Plan.Nodes[0].Pods[0]].Key(), s.Pools[d.Plan.Nodes[0].Pool].Name
	mux := http.NewServeMux()
	mux.Handle("/decisions", decisions)
	mux.Handle("/observed", seen)
	server := httptest.NewServer(mux)
	l.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		l.Fatal(err)
	}
	return at.Host
}

// user is a ServiceAccount with rights in the controller's namespace and in the
// cluster; its kubeconfig is returned.
func (l *explainedCluster) user(name string, here, everywhere []rbacv1.PolicyRule) string {
	l.Helper()
	user.Create(l, l.client, user.Account(namespace, name, here, everywhere)...)
	path, err := l.cluster.KubeconfigFor(l.Context(), namespace, name)
	if err != nil {
		l.Fatal(err)
	}
	return path
}

// reading is what snapshot needs: lists, and nothing that could change anything.
const reading = `
- {apiGroups: [karpenter.sh], resources: [nodepools, nodeclaims], verbs: [list]}
- {apiGroups: [""], resources: [nodes, pods], verbs: [list]}
- {apiGroups: [apps], resources: [daemonsets], verbs: [list]}`

func TestPlugin(t *testing.T) {
	l := newCluster(t)
	asks := l.user("asks", user.Rules(t, user.Asking), nil)
	reads := l.user("reads", nil, user.Rules(t, reading))
	for name, tc := range map[string]struct {
		reason string
		as     string
		args   []string
		code   int
		want   []string
	}{
		"pod": {
			reason: "why this type and zone, the next best, and what they would have cost", as: asks, args: []string{"explain", "pod", l.pod},
			want: []string{"a node was launched for it: ", "from NodePool " + l.pool, "EFFECTIVE $/H"},
		},
		"pool":             {reason: "JSON for scripts", as: asks, args: []string{"explain", "nodepool", l.pool, "-o", "json"}, want: []string{`"says": "node ` + l.pool}},
		"unknown":          {reason: "the exit code comes through kubectl", as: asks, args: []string{"explain", "pod", "default/none"}, code: 3, want: []string{"none of the 1 decisions"}},
		"observe":          {reason: "the same way to another answer", as: asks, args: []string{"observe"}, want: []string{"would be launched for pods that wait"}},
		"no right to ask":  {reason: "the API server decides who may", as: reads, args: []string{"explain", "pod", l.pod}, code: 2, want: []string{"find the leader: ", "cannot get resource \"leases\""}},
		"snapshot":         {reason: "lists are enough", as: reads, args: []string{"snapshot", "-o", "json"}, want: []string{`"kind":"Snapshot"`, "1 nodes", "limitranges is left out: Forbidden"}},
		"no right to read": {reason: "what a decision needs must be readable", as: asks, args: []string{"snapshot", "-o", "json"}, code: 2, want: []string{"nodepools", "cannot list resource"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := l.tools.Kubectl(t.Context(), t, tc.as, tc.args...)
			if code != tc.code {
				t.Errorf("%s: exit %d, want %d: %s%s", tc.reason, code, tc.code, stdout, stderr)
			}
			for _, want := range tc.want {
				if all := stdout + stderr; !strings.Contains(all, want) {
					t.Errorf("%s: %q is not in\n%s", tc.reason, want, all)
				}
			}
		})
	}
}
