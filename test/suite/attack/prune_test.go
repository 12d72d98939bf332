package attack

import (
	"context"
	"fmt"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/harness"
)

// prunesAdmission deletes the binding of the admission policy for NodeClaims for some time.
func prunesAdmission(t *testing.T) {
	const name = "spokeshave-" + harness.Namespace + "-nodeclaims"
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{}
	if err := stack.Client.Get(t.Context(), client.ObjectKey{Name: name}, binding); err != nil {
		t.Fatal(err)
	}
	if err := stack.Client.Delete(t.Context(), binding.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	back := func(ctx context.Context) error {
		again := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: binding.Labels, Annotations: binding.Annotations}, Spec: binding.Spec}
		return client.IgnoreAlreadyExists(stack.Client.Create(ctx, again))
	}
	t.Cleanup(func() {
		if err := back(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	missing := func(want float64) func(context.Context) (string, bool) {
		return func(ctx context.Context) (string, bool) {
			n, err := metric(ctx, "spokeshave_admission_policy_missing", `policy="`+name+`"`)
			return fmt.Sprint(n, err), err == nil && n == want
		}
	}
	until(t, "the metric of the alert", missing(1))
	event(t, karpv1.EventAdmissionPolicyMissing, name, "does not exist")
	if err := back(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "the metric to end", missing(0))

	policy := &admissionv1.ValidatingAdmissionPolicy{}
	if err := stack.Client.Get(t.Context(), client.ObjectKey{Name: name}, policy); err != nil {
		t.Fatal(err)
	}
	installed := policy.Spec.DeepCopy()
	loose := policy.DeepCopy()
	for i := range loose.Spec.Validations {
		loose.Spec.Validations[i].Expression = "true"
	}
	if err := stack.Client.Patch(t.Context(), loose, client.MergeFrom(policy)); err != nil {
		t.Fatal(err)
	}
	restore := func(ctx context.Context) error {
		if err := stack.Client.Get(ctx, client.ObjectKey{Name: name}, policy); err != nil {
			return err
		}
		before := policy.DeepCopy()
		policy.Spec = *installed.DeepCopy()
		return stack.Client.Patch(ctx, policy, client.MergeFrom(before))
	}
	t.Cleanup(func() {
		if err := restore(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	until(t, "the metric of the alert", missing(1)) // the event is counted with the one before, whose words stay
	if err := restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "the metric to end", missing(0))
}
