// Package plugin tests `kubectl spokeshave …`: the real kubectl finds the
// plugin, a real API server decides by RBAC who may ask, and forwards the port
// of the replica that leads.
package plugin

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/controller/app"
	"spokeshave.dev/controller/decide"
	"spokeshave.dev/controller/journal"
	"spokeshave.dev/controller/observe"
	"spokeshave.dev/controller/scenario"
	"spokeshave.dev/test/controlplane"
)

const (
	namespace = "spokeshave"
	leader    = "spokeshave-0"
)

// lab is a cluster in which a controller leads that has decided about the
// quickstart.
type lab struct {
	*testing.T

	cluster *controlplane.Cluster
	client  client.Client
	path    string // with the plugin and kubectl
	pod     string // a pod that got a node
	pool    string
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{T: t, cluster: controlplane.ForTest(t, false)}
	scheme, err := app.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	if l.client, err = client.New(l.cluster.Config(), client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	if err := controlplane.InstallCRDs(t.Context(), l.cluster.Config(), "../../charts/spokeshave/files/crds"); err != nil {
		t.Fatal(err)
	}
	l.lead(l.controller())
	l.install()
	return l
}

// controller serves the journal of a real decision, as the metrics port does,
// and returns its address.
func (l *lab) controller() string {
	l.Helper()
	objects, err := scenario.Read("../../examples/quickstart")
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
	decisions, seen := journal.New(10), &observe.Observer{}
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

func (l *lab) create(objects ...client.Object) {
	l.Helper()
	for _, o := range objects {
		if err := l.client.Create(l.Context(), o); client.IgnoreAlreadyExists(err) != nil {
			l.Fatal(err)
		}
	}
}

// lead makes the pod of the replica that leads, its lease, and its node.
func (l *lab) lead(target string) {
	l.Helper()
	at := kubelet(l.T, target)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "system"}}
	holder := leader + "_17"
	never := false
	l.create(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}},
		node,
		&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "spokeshave-leader-election"}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: leader}, Spec: corev1.PodSpec{
			NodeName: node.Name, AutomountServiceAccountToken: &never,
			Containers: []corev1.Container{{Name: "controller", Image: "controller", Ports: []corev1.ContainerPort{{Name: "http-metrics", ContainerPort: 8080}}}},
		}},
	)
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: at.IP.String()}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(at.Port)
	if err := l.client.Status().Update(l.Context(), node); err != nil {
		l.Fatal(err)
	}
}

// install builds the plugin, and puts it and kubectl in a folder.
func (l *lab) install() {
	l.Helper()
	l.path = l.TempDir()
	build := exec.CommandContext(l.Context(), "go", "build", "-o", filepath.Join(l.path, "kubectl-spokeshave"), "../../cmd/spokeshave")
	if out, err := build.CombinedOutput(); err != nil {
		l.Fatalf("build the plugin: %v\n%s", err, out)
	}
	if err := os.Symlink(l.cluster.Binaries.Kubectl, filepath.Join(l.path, "kubectl")); err != nil {
		l.Fatal(err)
	}
}

// user is a ServiceAccount with rights in the controller's namespace and in the
// cluster; its kubeconfig is returned.
func (l *lab) user(name string, here, everywhere []rbacv1.PolicyRule) string {
	l.Helper()
	who := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: name}}
	at := metav1.ObjectMeta{Namespace: namespace, Name: name}
	l.create(
		&corev1.ServiceAccount{ObjectMeta: at},
		&rbacv1.Role{ObjectMeta: at, Rules: here},
		&rbacv1.RoleBinding{ObjectMeta: at, Subjects: who, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}},
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: everywhere},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: who, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}},
	)
	path, err := l.cluster.KubeconfigFor(l.Context(), namespace, name)
	if err != nil {
		l.Fatal(err)
	}
	return path
}

// kubectl runs `kubectl spokeshave …` as a user.
func (l *lab) kubectl(kubeconfig string, args ...string) (code int, stdout, stderr string) {
	l.Helper()
	cmd := exec.CommandContext(l.Context(), filepath.Join(l.path, "kubectl"), append([]string{"spokeshave"}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+l.path, "KUBECONFIG="+kubeconfig)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		l.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), problems.String()
}

// asking is what the documents say that explain and observe need.
const asking = `
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get]}
- {apiGroups: [""], resources: [pods], verbs: [get]}
- {apiGroups: [""], resources: [pods/portforward], verbs: [create]}`

// reading is what snapshot needs: lists, and nothing that could change anything.
const reading = `
- {apiGroups: [karpenter.sh], resources: [nodepools, nodeclaims], verbs: [list]}
- {apiGroups: [""], resources: [nodes, pods], verbs: [list]}
- {apiGroups: [apps], resources: [daemonsets], verbs: [list]}`

func rules(t *testing.T, text string) []rbacv1.PolicyRule {
	t.Helper()
	var out []rbacv1.PolicyRule
	if err := yaml.UnmarshalStrict([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPlugin(t *testing.T) {
	l := newLab(t)
	asks := l.user("asks", rules(t, asking), nil)
	reads := l.user("reads", nil, rules(t, reading))
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
			code, stdout, stderr := l.kubectl(tc.as, tc.args...)
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
