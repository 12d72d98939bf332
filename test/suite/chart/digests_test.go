package chart

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/controller/app"
	"spokeshave.dev/controller/kube/admission"
)

// checkDigests: the digests that the chart hands to the controller are those of the admission
// policies as the API server keeps them, so that an edit of any of them, and nothing else, is told.
func (c *cluster) checkDigests(t *testing.T, config *rest.Config) {
	t.Helper()
	deployment, err := c.client.AppsV1().Deployments("system").Get(t.Context(), "spokeshave", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var o app.Options
	flags := pflag.NewFlagSet("spokeshave-controller", pflag.ContinueOnError)
	o.Bind(flags)
	if err := flags.Parse(deployment.Spec.Template.Spec.Containers[0].Args); err != nil {
		t.Fatal(err)
	}
	live, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	recorder := events.NewFakeRecorder(10)
	w := &admission.Watch{Live: live, Events: recorder, Clock: clocktesting.NewFakeClock(time.Now()), Policies: o.AdmissionPolicies}
	w.Look(t.Context())
	for len(recorder.Events) > 0 {
		t.Errorf("of the policies as installed: %s", <-recorder.Events)
	}
	if len(o.AdmissionPolicies) != 4 {
		t.Errorf("the chart hands over %d policies, want 4", len(o.AdmissionPolicies))
	}
	for name, digest := range o.AdmissionPolicies {
		if len(digest) != 64 {
			t.Errorf("the digest of %s is %q", name, digest)
		}
		installed := &admissionv1.ValidatingAdmissionPolicy{}
		if err := live.Get(t.Context(), client.ObjectKey{Name: name}, installed); err != nil {
			t.Fatal(err)
		}
		edited := installed.DeepCopy()
		edited.Spec.MatchConditions = append(edited.Spec.MatchConditions, admissionv1.MatchCondition{Name: "exempts", Expression: "request.userInfo.username != 'somebody'"})
		asEdited := edited.DeepCopy()
		if err := live.Patch(t.Context(), edited, client.MergeFrom(installed)); err != nil {
			t.Fatal(err)
		}
		w.Look(t.Context())
		if len(recorder.Events) != 1 {
			t.Fatalf("%s was edited: %d events, want 1", name, len(recorder.Events))
		}
		if got := <-recorder.Events; !strings.Contains(got, "not the one that the chart installed") {
			t.Errorf("%s was edited: event %q", name, got)
		}
		if err := live.Patch(t.Context(), installed.DeepCopy(), client.MergeFrom(asEdited)); err != nil {
			t.Fatal(err)
		}
	}
	w.Look(t.Context())
	if len(recorder.Events) != 0 {
		t.Errorf("of the policies as they were again: %s", <-recorder.Events)
	}
}
