package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/controlplane"
	"spokeshave.dev/test/kit/eventually"
	"spokeshave.dev/test/kit/karpenter"
)

// karpenterDeployment is one as Karpenter's chart makes it, with a gate that has no effect
// here.
const karpenterDeployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter, namespace: kube-system, labels: {app.kubernetes.io/name: karpenter}}
spec:
  replicas: 2
  selector: {matchLabels: {app.kubernetes.io/name: karpenter}}
  template:
    metadata: {labels: {app.kubernetes.io/name: karpenter}}
    spec:
      containers:
      - name: controller
        image: public.ecr.aws/karpenter/controller:1.14.1
        env: [{name: CLUSTER_NAME, value: mig}, {name: FEATURE_GATES, value: "StaticCapacity=true,NodeOverlay=true"}]
`

// restored creates what a running Karpenter 1.14.1 left in a cluster.
func restored(t *testing.T, c client.Client) {
	t.Helper()
	objects, err := karpenter.Objects()
	if err != nil {
		t.Fatal(err)
	}
	deployed := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(karpenterDeployment), &deployed.Object); err != nil {
		t.Fatal(err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "default"}}
	if err := c.Create(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	for _, o := range append(objects, deployed) {
		status, has := o.Object["status"]
		o.SetUID("")
		o.SetResourceVersion("")
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatalf("create %s %s: %v", o.GetKind(), o.GetName(), err)
		}
		if !has {
			continue
		}
		o.Object["status"] = status
		if err := c.Status().Update(t.Context(), o); err != nil {
			t.Fatalf("status of %s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}

// asReader returns a kubeconfig of somebody who may list some kinds and no others.
func asReader(t *testing.T, c client.Client, kubeconfig string, resources ...string) string {
	t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "reader"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: resources, Verbs: []string{"list"}}}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "reader"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "reader"}},
	}
	for _, o := range []client.Object{role, binding} {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	eventually.True(t, "the API server to know the role", func() bool {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "reader", ResourceAttributes: &authorizationv1.ResourceAttributes{Group: "karpenter.sh", Resource: resources[0], Verb: "list"},
		}}
		return c.Create(t.Context(), review) == nil && review.Status.Allowed
	})
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range config.AuthInfos {
		user.Impersonate = "reader"
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDoctorOfKarpenter looks at what Karpenter left in a real API server, as an
// administrator and as somebody who may not see everything.
func TestDoctorOfKarpenter(t *testing.T) {
	if testing.Short() {
		t.Skip("needs an API server")
	}
	cluster := controlplane.ForTest(t, false)
	c := apiserver.On(t, cluster).Client(t)
	restored(t, c)
	t.Run("top", func(t *testing.T) { topOfKarpenter(t, cluster.Kubeconfig) })
	r := diagnose(t, exitOK, "--kubeconfig", cluster.Kubeconfig, "--iam-policy", "../../examples/iam/controller-policy.json")
	if r.Karpenter == nil || r.Karpenter.Version != "1.14.1" || r.Karpenter.Setting("cluster-name") != karpenter.ClusterName {
		t.Errorf("Karpenter: %+v", r.Karpenter)
	}
	if len(r.Pools) != 13 || r.Claims.All != 17 || r.Claims.Ready != 14 || r.Claims.Starting != 3 {
		t.Errorf("%d NodePools, claims %+v; want 13 and 17, of which 14 are ready", len(r.Pools), r.Claims)
	}
	if m := r.Money; m == nil || m.Nodes != 16 || m.Cost <= 0 || m.InFlight != 1 || m.Anew == nil || m.Anew.Unplaced != 0 {
		t.Errorf("money: %+v", m)
	}
	if r.Permissions == nil || len(r.Permissions.Missing) != 0 {
		t.Errorf("permissions: %+v", r.Permissions)
	}
	concerned := map[string]string{}
	for _, d := range r.Differences {
		concerned[d.Subject] = d.Concerns
	}
	for subject, want := range map[string]string{"options on spot": "general", "claims of a static NodePool": "static", "settings without effect here": "NodeOverlay", "dry runs of an EC2NodeClass": "11 EC2NodeClasses"} {
		if !strings.Contains(concerned[subject], want) {
			t.Errorf("%s concerns %q, want %s", subject, concerned[subject], want)
		}
	}
	for _, format := range []string{"text", "html"} {
		if code, stdout, stderr := command(t, "doctor", "--kubeconfig", cluster.Kubeconfig, "--last", "0", "-o", format); code != exitOK || !strings.Contains(stdout, "nothing stands in the way of the swap") {
			t.Errorf("%s: exit %d: %s%s", format, code, stdout, stderr)
		}
	}
	r = diagnose(t, exitUnscheduled, "--kubeconfig", asReader(t, c, cluster.Kubeconfig, "nodepools", "nodes", "deployments"))
	want := []string{"nodeclaims.karpenter.sh", "ec2nodeclasses.karpenter.k8s.aws", "pods"}
	if got := person(&r); !slices.Equal(got, want) || len(r.Pools) != 13 || r.Karpenter == nil {
		t.Errorf("to do first: %v, want %v; %d NodePools, Karpenter %v", got, want, len(r.Pools), r.Karpenter)
	}
	for _, f := range r.Findings {
		if f.Subject == "pods" && (!strings.Contains(f.Message, `User "reader" cannot list resource "pods"`) || f.Remedy != "allow yourself the verb list on pods in all namespaces") {
			t.Errorf("pods: %+v", f)
		}
	}
}
