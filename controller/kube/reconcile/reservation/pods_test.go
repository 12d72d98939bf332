package reservation

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/lower"
)

// FuzzPlannedPods: what a claim says of its pods is what a decision reads from it too, or an
// error that names the claim and the annotation. No sum of announced pods is negative.
func FuzzPlannedPods(f *testing.F) {
	f.Add(`["shop/web-1","shop/web-2"]`, `{"ReplicaSet/shop/web":3}`)
	f.Add(`["a"`, `{"a":9223372036854775807,"b":9223372036854775807}`)
	f.Add(`{"a":["b"]}`, `{"a":-1}`)
	f.Add(` `, `[]`)
	f.Fuzz(func(t *testing.T, planned, announced string) {
		claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "the-claim", Annotations: map[string]string{
			karpv1.AnnotationPlannedPods: planned, karpv1.AnnotationAnnouncedPods: announced,
		}}}
		got, err := plannedPods(claim)
		if err != nil && (!strings.Contains(err.Error(), claim.Name) || !strings.Contains(err.Error(), karpv1.AnnotationPlannedPods)) {
			t.Errorf("the error does not say where: %v", err)
		}
		if !slices.Equal(got, lower.PlannedPods(claim)) {
			t.Errorf("%q here, %q in a decision", got, lower.PlannedPods(claim))
		}
		sum := announcedPods(claim)
		for owner, n := range lower.AnnouncedPods(claim) {
			if n > sum {
				t.Errorf("%d in all, %d of %q", sum, n, owner)
			}
		}
	})
}
