// Package demand makes a cluster strict, for tests: an admission policy of the API server
// refuses every ConfigMap of a namespace that has not a label, as Kyverno or Gatekeeper do
// in many clusters.
package demand

import (
	"context"
	"fmt"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/test/kit/eventually"
)

// Label has the API server demand a label on each ConfigMap that is created or changed in the
// namespace, and returns once it does. end takes the demand back; the test's end does so too.
func Label(t testing.TB, c client.Client, namespace, label string) (end func()) {
	t.Helper()
	at := metav1.ObjectMeta{Name: "demand-" + label + "-in-" + namespace}
	fail := admissionregistrationv1.Fail
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: at, Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
		FailurePolicy: &fail,
		MatchConstraints: &admissionregistrationv1.MatchResources{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
				},
			}},
		},
		Validations: []admissionregistrationv1.Validation{{
			Expression: fmt.Sprintf("object.metadata.?labels[?'%s'].hasValue()", label), Message: "every ConfigMap needs a label " + label,
		}},
	}}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: at, Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: at.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
	}}
	for _, o := range []client.Object{policy, binding} {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	ended := false
	end = func() {
		if ended {
			return
		}
		ended = true
		ctx := context.WithoutCancel(t.Context()) // the test may have ended
		for _, o := range []client.Object{binding, policy} {
			if err := c.Delete(ctx, o); err != nil {
				t.Error(err)
			}
		}
		obeys(ctx, t, c, namespace, "a ConfigMap without the label to be admitted", nil)
	}
	t.Cleanup(end)
	obeys(t.Context(), t, c, namespace, "a ConfigMap without the label to be refused", policy)
	return end
}

// obeys waits until the API server refuses a ConfigMap without labels, or, with no policy, admits it.
func obeys(ctx context.Context, t testing.TB, c client.Client, namespace, what string, policy *admissionregistrationv1.ValidatingAdmissionPolicy) {
	t.Helper()
	state, err := eventually.Poll(ctx, eventually.Within, func(ctx context.Context) (string, bool) {
		trial := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "trial"}}
		err := c.Create(ctx, trial, client.DryRunAll)
		return fmt.Sprint(err), (err != nil) == (policy != nil)
	})
	if err != nil {
		t.Error(eventually.Failure(what, eventually.Within, state, err))
	}
}
