package chart

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	utilyaml "sigs.k8s.io/yaml"

	"spokeshave.dev/test/kit/controlplane"
	"spokeshave.dev/test/kit/eventually"
)

// everything switches on whatever changes the pods.
const everything = `
policies: {cache: {enabled: true}}
webhook: {enabled: true}
web: {enabled: true, service: true, certSecret: web-tls}
controller: {metrics: {certSecret: metrics-tls}}
`

// demands are what many clusters demand by Kyverno or Gatekeeper, as policies of the API
// server's own: labels on what people install, limits, probes, and images that are not "latest".
const demands = `
- name: labels
  rules: [{apiGroups: ["", apps, policy], apiVersions: [v1], resources: [deployments, pods, services, configmaps, poddisruptionbudgets], operations: [CREATE]}]
  expression: object.metadata.?labels[?'team'].hasValue()
  message: everything needs a label team
- name: containers
  rules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE, UPDATE]}]
  expression: >-
    object.spec.template.spec.containers.all(c, has(c.resources.limits) && 'memory' in c.resources.limits && has(c.resources.requests) && 'cpu' in c.resources.requests &&
    !c.image.endsWith(':latest') && c.image.contains(':') && has(c.livenessProbe) && has(c.readinessProbe) && c.securityContext.readOnlyRootFilesystem)
  message: limits, requests, probes, a read-only file system and an image's version
`

// TestStrictCluster: the chart's pods pass the restricted Pod Security Standard whatever
// is switched on, and the chart installs where labels and limits are demanded, once it is
// told the labels, which the controller is told to set on its ConfigMaps. No controller runs
// here: for what it does where admission refuses it something, see the attacks operator/no-patch-of-pods and
// operator/refuses-the-record.
func TestStrictCluster(t *testing.T) {
	h := newHelm(t)
	c := controlplane.ForTest(t, true)
	h.env = append(h.env, "KUBECONFIG="+c.Kubeconfig)
	env := cluster{helm: h, client: kubernetes.NewForConfigOrDie(c.Config()), dynamic: dynamic.NewForConfigOrDie(c.Config())}
	env.node(t, "system", nil, []corev1.Taint{{Key: "CriticalAddonsOnly", Value: "true", Effect: corev1.TaintEffectNoSchedule}})
	strict := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "system", Labels: map[string]string{
		"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/enforce-version": "latest",
	}}}
	if _, err := env.client.CoreV1().Namespaces().Create(t.Context(), strict, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually.Ok(t, "an account for pods", func() (string, bool) {
		_, err := env.client.CoreV1().ServiceAccounts("system").Get(t.Context(), "default", metav1.GetOptions{})
		return "none yet", err == nil
	})
	env.checkRestricted(t)
	env.demand(t)

	install := []string{"install", "spokeshave", chartDir, "--namespace", "system", "--set", "settings.clusterName=test", "--set", image}
	if _, err := h.run(t.Context(), install...); err == nil || !strings.Contains(err.Error(), "everything needs a label team") {
		t.Fatalf("the cluster demands labels, and the chart without them: %v", err)
	}
	h.must(t, "uninstall", "spokeshave", "--namespace", "system")
	h.must(t, append(install, "--set", "additionalLabels.team=platform")...)
	env.podsOnSystemNode(t)
	d := get[appsv1.Deployment](t, env.render(t, "additionalLabels: {team: platform, app: a}"), "Deployment/spokeshave")
	if args := d.Spec.Template.Spec.Containers[0].Args; !slices.Contains(args, "--record-labels=app=a,team=platform") {
		t.Errorf("the controller is not told the labels: %q", args)
	}
}

// checkRestricted creates the chart's pods in a namespace that is restricted, for trial.
func (c *cluster) checkRestricted(t *testing.T) {
	t.Helper()
	for name, text := range map[string]string{"defaults": "", "everything": everything} {
		d := get[appsv1.Deployment](t, c.render(t, text), "Deployment/spokeshave")
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "trial", Labels: d.Spec.Template.Labels}, Spec: d.Spec.Template.Spec}
		pod.Spec.ServiceAccountName = "default"
		pod.Spec.PriorityClassName = ""
		try := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
		if _, err := c.client.CoreV1().Pods("system").Create(t.Context(), pod, try); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		pod.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = nil
		if _, err := c.client.CoreV1().Pods("system").Create(t.Context(), pod, try); !apierrors.IsForbidden(err) {
			t.Errorf("%s: the namespace restricts nothing: %v", name, err)
		}
	}
}

// demand installs the demands.
func (c *cluster) demand(t *testing.T) {
	t.Helper()
	var all []struct {
		Name, Expression, Message string
		Rules                     []any
	}
	if err := utilyaml.UnmarshalStrict([]byte(demands), &all); err != nil {
		t.Fatal(err)
	}
	kind := func(resource string) dynamic.ResourceInterface {
		return c.dynamic.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: resource})
	}
	for _, each := range all {
		meta := map[string]any{"name": "demand-" + each.Name}
		policy := map[string]any{
			"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": meta,
			"spec": map[string]any{
				"failurePolicy": "Fail",
				"matchConstraints": map[string]any{
					"resourceRules":     each.Rules,
					"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": "system"}},
				},
				"validations": []any{map[string]any{"expression": each.Expression, "message": each.Message}},
			},
		}
		binding := map[string]any{
			"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": meta,
			"spec": map[string]any{"policyName": "demand-" + each.Name, "validationActions": []any{"Deny"}},
		}
		for resource, object := range map[string]map[string]any{"validatingadmissionpolicies": policy, "validatingadmissionpolicybindings": binding} {
			if _, err := kind(resource).Create(t.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	eventually.Ok(t, "the demands to be made", func() (string, bool) {
		_, err := c.client.CoreV1().ConfigMaps("system").Create(t.Context(), configMap("trial"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return "a ConfigMap without labels is admitted", err != nil
	})
}
