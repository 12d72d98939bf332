// Package user is somebody with a kubeconfig of their own who runs `kubectl
// spokeshave …`, for tests: the real kubectl finds the plugin, a real API server
// decides by RBAC what they may, and forwards the port of the replica that leads.
//
// Not here: the controller that is asked, and what it answers.
package user

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// Asking is what the documents say that explain and observe need in the
// controller's namespace, for Rules.
const Asking = `
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get]}
- {apiGroups: [""], resources: [pods], verbs: [get]}
- {apiGroups: [""], resources: [pods/portforward], verbs: [create]}`

// Rules reads rules from YAML.
func Rules(t testing.TB, text string) []rbacv1.PolicyRule {
	t.Helper()
	var out []rbacv1.PolicyRule
	if err := yaml.UnmarshalStrict([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Create makes objects that may exist already.
func Create(t testing.TB, c client.Client, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := c.Create(t.Context(), o); client.IgnoreAlreadyExists(err) != nil {
			t.Fatal(err)
		}
	}
}

// Account is a ServiceAccount with rights in its namespace and everywhere.
func Account(namespace, name string, here, everywhere []rbacv1.PolicyRule) []client.Object {
	who := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: name}}
	at := metav1.ObjectMeta{Namespace: namespace, Name: name}
	return []client.Object{
		&corev1.ServiceAccount{ObjectMeta: at},
		&rbacv1.Role{ObjectMeta: at, Rules: here},
		&rbacv1.RoleBinding{ObjectMeta: at, Subjects: who, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}},
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: everywhere},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: who, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}},
	}
}

// Leader is a replica that leads as the cluster sees it.
type Leader struct {
	// Namespace is the controller's, Lease the name of its lease there, Pod that
	// of the pod that holds it.
	Namespace, Lease, Pod string
	// Target is where the pod's port leads to: host:port.
	Target string
}

// Lead makes the pod of the replica that leads, its lease, and its node, whose
// kubelet forwards every port to the target. They are returned for those who have
// to take them away.
func Lead(t testing.TB, c client.Client, l Leader) []client.Object {
	t.Helper()
	at := kubelet(t, l.Target)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: l.Pod + "-node"}}
	holder := l.Pod + "_17"
	never := false
	made := []client.Object{
		node,
		&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: l.Namespace, Name: l.Lease}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: l.Namespace, Name: l.Pod}, Spec: corev1.PodSpec{
			NodeName: node.Name, AutomountServiceAccountToken: &never,
			Containers: []corev1.Container{{Name: "controller", Image: "controller", Ports: []corev1.ContainerPort{{Name: "http-local", ContainerPort: 8080}}}},
		}},
	}
	Create(t, c, made...)
	base := node.DeepCopy()
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: at.IP.String()}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(at.Port)
	if err := c.Status().Patch(t.Context(), node, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	return made
}

// Tools are kubectl and the plugin, in a folder.
type Tools struct{ path string }

// Install builds the plugin from the folder of its package.
func Install(t testing.TB, kubectl, source string) *Tools {
	t.Helper()
	tools := &Tools{t.TempDir()}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(tools.path, "kubectl-spokeshave"), source)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the plugin: %v\n%s", err, out)
	}
	if err := os.Symlink(kubectl, filepath.Join(tools.path, "kubectl")); err != nil {
		t.Fatal(err)
	}
	return tools
}

// Kubectl runs `kubectl spokeshave …` with a kubeconfig.
func (u *Tools) Kubectl(ctx context.Context, t testing.TB, kubeconfig string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(ctx, filepath.Join(u.path, "kubectl"), append([]string{"spokeshave"}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+u.path, "KUBECONFIG="+kubeconfig)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), problems.String()
}
