package chart

import (
	"context"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"spokeshave.dev/test/kit/eventually"
)

// checkRecordFence: of all ConfigMaps the controller writes its records and the copies
// of policies, and deletes copies only, even where a Role would permit more. It creates
// two leases and no other.
func (c *cluster) checkRecordFence(t *testing.T, config *rest.Config) {
	t.Helper()
	config = asController(config)
	controller := kubernetes.NewForConfigOrDie(config)
	c.grantConfigMaps(t, "kube-system")
	for _, at := range []struct{ namespace, name string }{{"system", "of-somebody"}, {"kube-system", "aws-auth"}, {"system", "spokeshave-policy-of-somebody"}} {
		if _, err := c.client.CoreV1().ConfigMaps(at.namespace).Create(t.Context(), configMap(at.name), metav1.CreateOptions{}); err != nil {
			t.Errorf("the fence is in the way of others: %v", err)
		}
	}
	eventually.True(t, "the fence stands", func() bool {
		err := controller.CoreV1().ConfigMaps("system").Delete(t.Context(), "of-somebody", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInvalid(err)
	})
	create := func(namespace string, cm *corev1.ConfigMap) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := controller.CoreV1().ConfigMaps(namespace).Create(ctx, cm, metav1.CreateOptions{})
			return err
		}
	}
	remove := func(namespace, name string) func(context.Context) error {
		return func(ctx context.Context) error {
			return controller.CoreV1().ConfigMaps(namespace).Delete(ctx, name, metav1.DeleteOptions{})
		}
	}
	lease := func(namespace, name string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := controller.CoordinationV1().Leases(namespace).Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
			return err
		}
	}
	for _, tc := range []struct {
		name   string
		do     func(context.Context) error
		denied bool
	}{
		{"create the ledger", create("system", configMap("spokeshave-ledger")), false},
		{"create the history of a month", create("system", configMap("spokeshave-spend-12")), false},
		{"create a history of no month", create("system", configMap("spokeshave-spend-13")), true},
		{"delete the history of a month", remove("system", "spokeshave-spend-12"), true},
		{"create the status", create("system", configMap("spokeshave-policy-status")), false},
		{"create a copy", create("system", policyCopy("spokeshave-policy-0123")), false},
		{"delete a copy", remove("system", "spokeshave-policy-0123"), false},
		{"create its lease", lease("system", "spokeshave-leader-election"), false},
		{"create Karpenter's lease", lease("kube-system", "karpenter-leader-election"), false},
		{"delete the ledger", remove("system", "spokeshave-ledger"), true},
		{"create a ConfigMap of its own choice", create("system", configMap("trusted-ca")), true},
		{"create a labelled one of another name", create("system", policyCopy("trusted-ca")), true},
		{"create a copy without its label", create("system", configMap("spokeshave-policy-4567")), true},
		{"delete a policy", remove("system", "cheapest"), true},
		{"delete what only has a copy's name", remove("system", "spokeshave-policy-of-somebody"), true},
		{"delete what every namespace has", remove("system", "kube-root-ca.crt"), true},
		{"delete in kube-system", remove("kube-system", "aws-auth"), true},
		{"create a copy in kube-system", create("kube-system", policyCopy("spokeshave-policy-0123")), true},
		{"create the scheduler's lease", lease("kube-system", "kube-scheduler-2"), true},
	} {
		if err := tc.do(t.Context()); apierrors.IsInvalid(err) != tc.denied || !tc.denied && err != nil && !apierrors.IsAlreadyExists(err) {
			t.Errorf("%s: denied %v, want %v: %v", tc.name, apierrors.IsInvalid(err), tc.denied, err)
		}
	}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// policyCopy returns a ConfigMap with the label of a policy's copy.
func policyCopy(name string) *corev1.ConfigMap {
	out := configMap(name)
	out.Labels = map[string]string{"spokeshave.dev/policy-copy": "true"}
	return out
}

// grantConfigMaps gives the controller's account all ConfigMaps of a namespace, as a
// Role that is wider than the chart's would.
func (c *cluster) grantConfigMaps(t *testing.T, namespace string) {
	t.Helper()
	at := metav1.ObjectMeta{Name: "too-much", Namespace: namespace}
	_, err := c.client.RbacV1().Roles(namespace).Create(t.Context(), &rbacv1.Role{ObjectMeta: at, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create", "update", "delete"},
	}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.client.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: at, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "too-much"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "system", Name: "spokeshave"}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}
