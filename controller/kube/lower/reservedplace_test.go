package lower

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/test/kit/instancetype"
)

// TestReservedInFlight: an instance of a reservation is used once. Claims that are not
// launched yet are subtracted, while launched ones are in the cloud's count.
func TestReservedInFlight(t *testing.T) {
	const reserved, onDemand = `[{"instanceType":"m.1","zone":"a","capacityType":"reserved","price":1}]`,
		`[{"instanceType":"m.1","zone":"a","capacityType":"on-demand","price":1}]`
	launched := metav1.Condition{Type: karpv1.ConditionLaunched, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))}
	now := metav1.NewTime(time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC))
	claim := func(name, options string, change func(*karpv1.NodeClaim)) *karpv1.NodeClaim {
		out := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{karpv1.AnnotationLaunch: options}, Labels: map[string]string{}}}
		out.Spec.NodeClassRef.Name = "default"
		if change != nil {
			change(out)
		}
		return out
	}
	for name, tc := range map[string]struct {
		reason string
		claims []*karpv1.NodeClaim
		want   int
	}{
		"none":     {reason: "what the cloud says", want: 2},
		"one":      {reason: "one is on its way", claims: []*karpv1.NodeClaim{claim("a", reserved, nil)}, want: 1},
		"three":    {reason: "never below zero", claims: []*karpv1.NodeClaim{claim("a", reserved, nil), claim("b", reserved, nil), claim("c", reserved, nil)}, want: 0},
		"demand":   {reason: "it takes no reserved place", claims: []*karpv1.NodeClaim{claim("a", onDemand, nil)}, want: 2},
		"launched": {reason: "the cloud has counted it", claims: []*karpv1.NodeClaim{claim("a", reserved, func(c *karpv1.NodeClaim) { c.Status.Conditions = []metav1.Condition{launched} })}, want: 2},
		"recorded": {reason: "launched, and the condition not yet written", claims: []*karpv1.NodeClaim{claim("a", reserved, func(c *karpv1.NodeClaim) { c.Labels[corev1.LabelInstanceTypeStable] = "m.1" })}, want: 2},
		"deleted":  {reason: "it is not launched any more", claims: []*karpv1.NodeClaim{claim("a", reserved, func(c *karpv1.NodeClaim) { c.DeletionTimestamp = &now })}, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			shared := instancetype.Catalog(instancetype.Of("m.1", nil, instancetype.OnDemand("a", 1), instancetype.Reserved("a", 1, model.Reservation{Free: 2})))
			s, _ := Build(Inputs{NodeClaims: tc.claims, Catalogs: map[string]model.Catalog{"default": shared}})
			if got := s.Catalogs[0].Types[0].Offerings[1].Reservation.Free; got != tc.want {
				t.Errorf("%s: %d free, want %d", tc.reason, got, tc.want)
			}
			if got := shared.Types[0].Offerings[1].Reservation.Free; got != 2 {
				t.Errorf("the provider's catalogue was changed: %d free", got)
			}
		})
	}
}
