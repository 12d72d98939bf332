package lifecycle

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
)

// FuzzRecorded: whatever is written on a claim as its attempt, it is an attempt, which is the
// same after it is written again and has a number that another can follow, or an error that says
// which annotation is wrong.
func FuzzRecorded(f *testing.F) {
	f.Add(`{"token":"a","ordinal":1,"claim":"c","claims":["c","d"],"request":{"LaunchTemplateConfigs":[]}}`)
	f.Add(`{"ordinal":9223372036854775807}`)
	f.Add(`{"ordinal":-1,"request":null}`)
	f.Add(`{"request":`)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, text string) {
		claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Annotations: map[string]string{karpv1.AnnotationAttempt: text}}}
		got, err := recorded(claim)
		if err != nil {
			if !strings.Contains(err.Error(), karpv1.AnnotationAttempt) || !cmp.Equal(got, provider.Attempt{}) {
				t.Errorf("%+v and %v", got, err)
			}
			return
		}
		if got.Ordinal < 0 || got.Ordinal+1 < got.Ordinal {
			t.Errorf("attempt %d", got.Ordinal)
		}
		written, err := json.Marshal(got)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		claim.Annotations[karpv1.AnnotationAttempt] = string(written)
		again, err := recorded(claim)
		if err != nil {
			t.Fatalf("%s cannot be read: %v", written, err)
		}
		if twice, err := json.Marshal(again); err != nil || string(twice) != string(written) {
			t.Errorf("%s became %s: %v", written, twice, err)
		}
		if again.Owner() != got.Owner() || len(again.Request) == 0 != (len(got.Request) == 0) {
			t.Errorf("%+v became %+v", got, again)
		}
	})
}

// FuzzLaunchSpec: whatever is written on a claim as its options, a launch has at least one, or
// the error names the claim and the annotation. What an instance was bought at is a price of one
// of the options.
func FuzzLaunchSpec(f *testing.F) {
	f.Add(`[{"instanceType":"m.1","zone":"a","capacityType":"spot","price":70000,"effectivePrice":0.1}]`, "g/3")
	f.Add(`[{"price":-9223372036854775808}]`, "g/99999999999999999999")
	f.Add(`[{}]`, "/1")
	f.Add(`[null]`, "a/0")
	f.Add(`{}`, "")
	f.Add(`[]`, "")
	f.Fuzz(func(t *testing.T, text, group string) {
		claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "the-claim", Annotations: map[string]string{karpv1.AnnotationLaunch: text, karpv1.AnnotationLaunchGroup: group}}}
		spec, err := launchSpec(claim)
		if err != nil {
			if !strings.Contains(err.Error(), "the-claim") || !strings.Contains(err.Error(), karpv1.AnnotationLaunch) {
				t.Errorf("the error does not say where: %v", err)
			}
			return
		}
		if len(spec.Options) == 0 || spec.Group.Size < 0 || spec.Group != provider.ParseGroup(spec.Group.String()) {
			t.Errorf("%d options, group %+v", len(spec.Options), spec.Group)
		}
		o := &spec.Options[0]
		in := &provider.Instance{InstanceType: o.InstanceType, Zone: o.Zone, CapacityType: o.CapacityType}
		if boughtAt(claim, in, 0) == "" {
			t.Errorf("%+v was not bought", o)
		}
	})
}
