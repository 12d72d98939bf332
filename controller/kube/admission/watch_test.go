package admission_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/controller/kube/admission"
	"spokeshave.dev/test/kit/apiserver"
)

const name = "spokeshave-test"

func objects() (*admissionv1.ValidatingAdmissionPolicy, *admissionv1.ValidatingAdmissionPolicyBinding) {
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	policy.Spec.FailurePolicy = new(admissionv1.Fail)
	policy.Spec.MatchConstraints = &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{admissionv1.Create},
		Rule:       admissionv1.Rule{APIGroups: []string{"karpenter.sh"}, APIVersions: []string{"v1"}, Resources: []string{"nodeclaims"}},
	}}}}
	policy.Spec.Validations = []admissionv1.Validation{{Expression: "true"}}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}}
	binding.Spec = admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}}
	return policy, binding
}

// TestWatch: a policy that does not deny what it is about is told, once an hour, and no more
// once it is in force again.
func TestWatch(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	installed, _ := objects()
	digest, err := admission.Digest(&installed.Spec)
	if err != nil {
		t.Fatal(err)
	}
	team := &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
	for title, tc := range map[string]struct {
		reason string
		change func(*admissionv1.ValidatingAdmissionPolicy, *admissionv1.ValidatingAdmissionPolicyBinding)
		gone   []string // of policy and binding
		want   string   // a part of the event; empty for none
	}{
		"in force":   {reason: "as the chart installs it"},
		"nothing":    {reason: "both were deleted", gone: []string{"policy", "binding"}, want: "ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding spokeshave-test does not exist"},
		"no policy":  {reason: "the binding binds nothing", gone: []string{"policy"}, want: "ValidatingAdmissionPolicy spokeshave-test does not exist"},
		"no binding": {reason: "a policy without a binding does nothing", gone: []string{"binding"}, want: "ValidatingAdmissionPolicyBinding spokeshave-test does not exist"},
		"audits": {reason: "what is audited is let through", change: func(_ *admissionv1.ValidatingAdmissionPolicy, b *admissionv1.ValidatingAdmissionPolicyBinding) {
			b.Spec.ValidationActions = []admissionv1.ValidationAction{admissionv1.Audit}
		}, want: "does not deny"},
		"ignores faults": {reason: "an error lets through", change: func(p *admissionv1.ValidatingAdmissionPolicy, _ *admissionv1.ValidatingAdmissionPolicyBinding) {
			p.Spec.FailurePolicy = new(admissionv1.Ignore)
		}, want: "failurePolicy"},
		"validates less": {reason: "what was denied is let through", change: func(p *admissionv1.ValidatingAdmissionPolicy, _ *admissionv1.ValidatingAdmissionPolicyBinding) {
			p.Spec.Validations[0].Expression = "true || false"
		}, want: "not the one that the chart installed"},
		"matches less": {reason: "what it does not match is let through", change: func(p *admissionv1.ValidatingAdmissionPolicy, _ *admissionv1.ValidatingAdmissionPolicyBinding) {
			p.Spec.MatchConstraints.ObjectSelector = team
		}, want: "not the one that the chart installed"},
		"exempts": {reason: "a condition leaves somebody out", change: func(p *admissionv1.ValidatingAdmissionPolicy, _ *admissionv1.ValidatingAdmissionPolicyBinding) {
			p.Spec.MatchConditions = []admissionv1.MatchCondition{{Name: "not-me", Expression: "request.userInfo.username != 'me'"}}
		}, want: "not the one that the chart installed"},
		"another policy": {reason: "it was bound to something harmless", change: func(_ *admissionv1.ValidatingAdmissionPolicy, b *admissionv1.ValidatingAdmissionPolicyBinding) {
			b.Spec.PolicyName = "other"
		}, want: "of another policy"},
		"some objects": {reason: "others are let through", change: func(_ *admissionv1.ValidatingAdmissionPolicy, b *admissionv1.ValidatingAdmissionPolicyBinding) {
			b.Spec.MatchResources = &admissionv1.MatchResources{ObjectSelector: team}
		}, want: "restricted"},
		"parameters": {reason: "they may select what is judged", change: func(_ *admissionv1.ValidatingAdmissionPolicy, b *admissionv1.ValidatingAdmissionPolicyBinding) {
			b.Spec.ParamRef = &admissionv1.ParamRef{Name: "p", ParameterNotFoundAction: new(admissionv1.AllowAction)}
		}, want: "restricted"},
	} {
		t.Run(title, func(t *testing.T) {
			policy, binding := objects()
			if tc.change != nil {
				tc.change(policy, binding)
			}
			for kind, o := range map[string]client.Object{"policy": policy, "binding": binding} {
				if strings.Contains(strings.Join(tc.gone, " "), kind) {
					continue
				}
				if err := c.Create(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
			recorder, registry := events.NewFakeRecorder(10), prometheus.NewRegistry()
			clock := clocktesting.NewFakeClock(time.Now())
			w := &admission.Watch{Live: c, Events: recorder, Clock: clock, Policies: map[string]string{name: digest}, Metrics: admission.NewMetrics(registry)}
			told := func(when, want string, n int) {
				t.Helper()
				if len(recorder.Events) != n {
					t.Errorf("%s: %d events, want %d", when, len(recorder.Events), n)
				}
				for len(recorder.Events) > 0 {
					if got := <-recorder.Events; !strings.Contains(got, want) {
						t.Errorf("%s: event %q, want %q", when, got, want)
					}
				}
				value := "0"
				if want != "" {
					value = "1"
				}
				text := "# HELP spokeshave_admission_policy_missing 1 while an admission policy of the chart is missing, does not deny, or was edited, by its name.\n" +
					"# TYPE spokeshave_admission_policy_missing gauge\nspokeshave_admission_policy_missing{policy=\"" + name + "\"} " + value + "\n"
				if err := testutil.GatherAndCompare(registry, strings.NewReader(text)); err != nil {
					t.Errorf("%s: %v", when, err)
				}
			}
			n := 0
			if tc.want != "" {
				n = 1
			}
			w.Look(t.Context())
			told(tc.reason, tc.want, n)
			clock.Step(time.Minute)
			w.Look(t.Context())
			told("a minute later", tc.want, 0)
			clock.Step(time.Hour)
			w.Look(t.Context())
			told("an hour later", tc.want, n)

			for _, o := range []client.Object{policy, binding} {
				if err := client.IgnoreNotFound(c.Delete(t.Context(), o)); err != nil {
					t.Fatal(err)
				}
			}
			policy, binding = objects()
			for _, o := range []client.Object{policy, binding} {
				if err := c.Create(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
			w.Look(t.Context())
			told("installed again", "", 0)
			for _, o := range []client.Object{policy, binding} {
				if err := c.Delete(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
