package chart

import (
	"maps"
	"slices"
	"strings"
	"testing"

	authv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/controlplane"
	"spokeshave.dev/test/kit/eventually"
)

// cluster is a control plane with two nodes, and Helm pointed at it.
type cluster struct {
	helm
	client  kubernetes.Interface
	dynamic dynamic.Interface
}

// TestInstall takes the chart through its life on a real control plane:
// installed, running on system nodes only, permitted what it needs and nothing
// else, upgraded, uninstalled, with everybody's NodePools still there.
func TestInstall(t *testing.T) {
	h := newHelm(t)
	c := controlplane.ForTest(t, true)
	h.env = append(h.env, "KUBECONFIG="+c.Kubeconfig)
	env := cluster{helm: h, client: kubernetes.NewForConfigOrDie(c.Config()), dynamic: dynamic.NewForConfigOrDie(c.Config())}
	env.node(t, "system", nil, []corev1.Taint{{Key: "CriticalAddonsOnly", Value: "true", Effect: corev1.TaintEffectNoSchedule}})
	env.node(t, "managed", map[string]string{karpv1.LabelNodePool: "default"}, nil)

	team := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}
	if _, err := env.client.CoreV1().Namespaces().Create(t.Context(), team, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	notes := h.must(t, "install", "spokeshave", chartDir, "--namespace", "system", "--create-namespace",
		"--set", "settings.clusterName=test", "--set", image, "--set", "policies.pluginNamespaces={team-a}")
	env.checkNotes(t, notes)
	env.podsOnSystemNode(t)
	env.checkAccess(t)
	env.checkDigests(t, c.Config())
	env.checkFence(t, c.Config())
	env.checkClaimFence(t, c.Config())
	env.checkPoolFence(t, c.Config())
	env.checkRecordFence(t, c.Config())
	env.checkFlowSchemas(t, c.Config())

	pools := env.dynamic.Resource(karpv1.GroupVersion.WithResource("nodepools"))
	pool := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": map[string]any{"name": "default"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"requirements": []any{}, "nodeClassRef": map[string]any{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
		}}},
	}}
	eventually.True(t, "NodePools are served", func() bool {
		_, err := pools.Create(t.Context(), pool, metav1.CreateOptions{})
		return err == nil
	})

	h.must(t, "upgrade", "spokeshave", chartDir, "--namespace", "system", "--reuse-values", "--set", "controller.mode=Observe")
	if env.may(t, access{"create", "karpenter.sh", "nodeclaims", "", "", ""}) {
		t.Error("after the upgrade to Observe the controller may still create NodeClaims")
	}
	h.must(t, "uninstall", "spokeshave", "--namespace", "system")
	if _, err := pools.Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
		t.Errorf("uninstalling the chart took the NodePool with it: %v", err)
	}
	// The definitions that stayed carry the release's name, so that it can come back.
	h.must(t, "install", "spokeshave", chartDir, "--namespace", "system", "--set", "settings.clusterName=test", "--set", image)
}

func (c *cluster) checkNotes(t *testing.T, notes string) {
	t.Helper()
	for _, want := range []string{"for the cluster test", "Mode Act", "kube-system/karpenter-leader-election", "deployment/spokeshave", "policies.defaults.budget.enabled=true"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes do not mention %q:\n%s", want, notes)
		}
	}
	if strings.Contains(notes, "<no value>") || strings.Contains(notes, "crds.install=false") {
		t.Errorf("the notes are wrong:\n%s", notes)
	}
}

// podsOnSystemNode waits until both replicas run, and not on a managed node.
func (c *cluster) podsOnSystemNode(t *testing.T) {
	t.Helper()
	var seen []string
	eventually.True(t, "two pods run on the system node", func() bool {
		list, err := c.client.CoreV1().Pods("system").List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=spokeshave"})
		if err != nil {
			t.Fatal(err)
		}
		seen = nil
		for _, p := range list.Items {
			seen = append(seen, p.Spec.NodeName+" "+string(p.Status.Phase))
		}
		return slices.Equal(seen, []string{"system Running", "system Running"})
	})
}

// access is a question to the authorizer; namespace and name may be empty.
type access struct{ verb, group, resource, subresource, namespace, name string }

// may asks the API server on behalf of the controller's account.
func (c *cluster) may(t *testing.T, a access) bool {
	t.Helper()
	review := &authv1.SubjectAccessReview{Spec: authv1.SubjectAccessReviewSpec{
		User:   "system:serviceaccount:system:spokeshave",
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:system", "system:authenticated"},
		ResourceAttributes: &authv1.ResourceAttributes{
			Verb: a.verb, Group: a.group, Resource: a.resource, Subresource: a.subresource, Namespace: a.namespace, Name: a.name,
		},
	}}
	got, err := c.client.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return got.Status.Allowed
}

func (c *cluster) checkAccess(t *testing.T) {
	t.Helper()
	for _, a := range []access{
		{"watch", "", "pods", "", "", ""},
		{"watch", "", "nodes", "", "", ""},
		{"patch", "", "nodes", "", "", "n1"},
		{"delete", "", "nodes", "", "", "n1"},
		{"create", "", "pods", "eviction", "default", "p1"},
		{"delete", "", "pods", "", "default", "p1"},
		{"patch", "", "pods", "", "default", "p1"}, // one toleration: checkFence
		{"create", "events.k8s.io", "events", "", "default", ""},
		{"patch", "", "events", "", "default", ""},
		{"list", "policy", "poddisruptionbudgets", "", "", ""},
		{"list", "storage.k8s.io", "volumeattachments", "", "", ""},
		{"create", "karpenter.sh", "nodeclaims", "", "", ""},
		{"patch", "karpenter.sh", "nodeclaims", "status", "", "c1"},
		{"update", "karpenter.sh", "nodepools", "status", "", "p1"},
		{"update", "karpenter.sh", "nodepools", "finalizers", "", "p1"},
		{"patch", "karpenter.k8s.aws", "ec2nodeclasses", "status", "", "c1"},
		{"create", "coordination.k8s.io", "leases", "", "system", ""},
		{"update", "coordination.k8s.io", "leases", "", "system", "spokeshave-leader-election"},
		{"create", "coordination.k8s.io", "leases", "", "kube-system", ""},
		{"update", "coordination.k8s.io", "leases", "", "kube-system", "karpenter-leader-election"},
		{"get", "", "services", "", "kube-system", "kube-dns"},
		{"watch", "", "configmaps", "", "system", ""},
		{"create", "", "configmaps", "", "system", ""},
		{"update", "", "configmaps", "", "system", "spokeshave-policy-status"},
		{"update", "", "configmaps", "", "system", "spokeshave-spend-01"},
		{"update", "", "configmaps", "", "system", "spokeshave-spend-12"},
		{"delete", "", "configmaps", "", "system", "spokeshave-policy-0123456789ab"},
		{"watch", "", "configmaps", "", "team-a", ""},
		{"create", "authentication.k8s.io", "tokenreviews", "", "", ""},
		{"create", "authorization.k8s.io", "subjectaccessreviews", "", "", ""},
	} {
		if !c.may(t, a) {
			t.Errorf("the controller may not %v", a)
		}
	}
	for _, a := range []access{
		{"get", "", "secrets", "", "system", "x"},
		{"list", "", "configmaps", "", "", ""},
		{"list", "", "configmaps", "", "default", ""},
		{"update", "", "configmaps", "", "system", "cheapest"},
		{"update", "", "configmaps", "", "system", "spokeshave-spend-13"},
		{"create", "", "configmaps", "", "team-a", ""},
		{"delete", "", "configmaps", "", "team-a", "x"},
		{"delete", "", "configmaps", "", "kube-system", "aws-auth"},
		{"get", "", "configmaps", "", "kube-system", "aws-auth"},
		{"update", "", "configmaps", "", "kube-system", "spokeshave-ledger"},
		{"create", "", "serviceaccounts", "token", "system", "spokeshave"},
		{"create", "rbac.authorization.k8s.io", "clusterrolebindings", "", "", ""},
		{"delete", "admissionregistration.k8s.io", "validatingadmissionpolicies", "", "", "spokeshave-system-configmaps"},
		{"create", "", "pods", "", "default", ""},
		{"update", "", "pods", "", "default", "p1"},
		{"patch", "", "pods", "status", "default", "p1"},
		{"patch", "", "pods", "ephemeralcontainers", "default", "p1"},
		{"patch", "", "pods", "resize", "default", "p1"},
		{"create", "", "pods", "binding", "default", "p1"},
		{"create", "", "nodes", "", "", ""},
		{"create", "karpenter.sh", "nodepools", "", "", ""},
		{"delete", "karpenter.sh", "nodepools", "", "", "p1"},
		{"delete", "karpenter.k8s.aws", "ec2nodeclasses", "", "", "c1"},
		{"update", "coordination.k8s.io", "leases", "", "kube-system", "kube-scheduler"},
		{"delete", "policy", "poddisruptionbudgets", "", "default", "x"},
		{"update", "apiextensions.k8s.io", "customresourcedefinitions", "", "", "nodepools.karpenter.sh"},
	} {
		if c.may(t, a) {
			t.Errorf("the controller may %v", a)
		}
	}
}

// node creates a node that KWOK plays.
func (c *cluster) node(t *testing.T, name string, labels map[string]string, taints []corev1.Taint) {
	t.Helper()
	all := map[string]string{controlplane.NodeLabel: controlplane.NodeLabelValue, corev1.LabelHostname: name, corev1.LabelOSStable: "linux"}
	maps.Copy(all, labels)
	size := corev1.ResourceList{"cpu": resource.MustParse("8"), "memory": resource.MustParse("32Gi"), "pods": resource.MustParse("110")}
	_, err := c.client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: all},
		Spec:       corev1.NodeSpec{Taints: taints},
		Status:     corev1.NodeStatus{Capacity: size, Allocatable: size},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}
