package controlplane

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"spokeshave.dev/test/kit/eventually"
)

// TestAccess needs only the API server: who may do what, and what it serves.
func TestAccess(t *testing.T) {
	c := ForTest(t, false)
	if got := len(c.PIDs()); got != 2 {
		t.Errorf("programs = %v, want etcd and kube-apiserver alone", c.PIDs())
	}
	t.Run("KubeconfigFor", func(t *testing.T) { testKubeconfigFor(t, c) })
	t.Run("InstallCRDs", func(t *testing.T) { testInstallCRDs(t, c) })
	t.Run("StartTwice", func(t *testing.T) {
		if _, err := Start(t.Context(), Options{Dir: c.Dir}); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("Start in the directory of a running cluster = %v, want a refusal", err)
		}
		if _, err := Attach(c.Dir); err != nil {
			t.Errorf("the refused Start harmed the cluster: %v", err)
		}
	})
}

func testKubeconfigFor(t *testing.T, c *Cluster) {
	ctx, admin := t.Context(), kubernetes.NewForConfigOrDie(c.Config())
	if _, err := c.KubeconfigFor(ctx, namespace, "worker"); !apierrors.IsNotFound(err) {
		t.Errorf("KubeconfigFor an absent ServiceAccount = %v, want NotFound", err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "worker"}}
	if _, err := admin.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	path, err := c.KubeconfigFor(ctx, namespace, "worker")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	worker := kubernetes.NewForConfigOrDie(cfg)
	list := func() error {
		_, err := worker.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		return err
	}
	if err := list(); !apierrors.IsForbidden(err) {
		t.Errorf("list pods without a role = %v, want Forbidden", err)
	}
	// Not the built-in "view": a controller of the absent controller manager fills it.
	_, err = admin.RbacV1().Roles(namespace).Create(ctx, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "worker"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = admin.RbacV1().RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "worker"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "worker"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "worker"}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The authorizer learns of a new binding through its own watch.
	eventually.True(t, "the role binding is in force", func() bool { return list() == nil })
	if _, err := worker.CoreV1().Pods("kube-system").List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("list pods of another namespace = %v, want Forbidden", err)
	}
}

func testInstallCRDs(t *testing.T, c *Cluster) {
	dir := t.TempDir()
	if err := InstallCRDs(t.Context(), c.Config(), dir); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("InstallCRDs of an empty folder = %v, want an error that names it", err)
	}
	const crd = `# two documents, one of them empty
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.test.spokeshave.dev}
spec:
  group: test.spokeshave.dev
  scope: Cluster
  names: {kind: Gadget, plural: gadgets, singular: gadget, listKind: GadgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object}}
`
	if err := os.WriteFile(filepath.Join(dir, "gadgets.yaml"), []byte(crd), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time changes nothing
		if err := InstallCRDs(t.Context(), c.Config(), dir); err != nil {
			t.Fatal(err)
		}
	}
	gvr := schema.GroupVersionResource{Group: "test.spokeshave.dev", Version: "v1", Resource: "gadgets"}
	if _, err := dynamic.NewForConfigOrDie(c.Config()).Resource(gvr).List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("list a resource whose CRD is established: %v", err)
	}
}
