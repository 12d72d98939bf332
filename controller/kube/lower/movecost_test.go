package lower

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

// TestMoveCost: what a NodePool says that moves cost, and that one that says it wrongly
// launches nothing until it is mended.
func TestMoveCost(t *testing.T) {
	for name, tc := range map[string]struct {
		reason      string
		annotations map[string]string
		want        *model.Price
		problem     string
	}{
		"none":     {reason: "the cluster's setting holds"},
		"some":     {reason: "dollars an hour", annotations: map[string]string{karpv1.AnnotationMoveCost: "0.002"}, want: new(model.Price(2000))},
		"nothing":  {reason: "moves may cost nothing", annotations: map[string]string{karpv1.AnnotationMoveCost: "0"}, want: new(model.Price(0))},
		"a word":   {reason: "no number", annotations: map[string]string{karpv1.AnnotationMoveCost: "much"}, problem: `"much"`},
		"negative": {reason: "nobody is paid for moves", annotations: map[string]string{karpv1.AnnotationMoveCost: "-1"}, problem: `"-1"`},
		"too much": {reason: "sums would overflow", annotations: map[string]string{karpv1.AnnotationMoveCost: "1e300"}, problem: `"1e300"`},
		"infinite": {reason: "consolidateAfter: Never says that", annotations: map[string]string{karpv1.AnnotationMoveCost: "Inf"}, problem: `"Inf"`},
	} {
		t.Run(name, func(t *testing.T) {
			np := &karpv1.NodePool{Spec: *parse[karpv1.NodePoolSpec](t, `{template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: d}, requirements: []}}}`)}
			np.Annotations = tc.annotations
			problem := ""
			if tc.problem != "" {
				problem = "metadata.annotations[spokeshave.dev/move-cost]: " + tc.problem + ": " + wantedMoveCost
			}
			got := Pool(np)
			if diff := cmp.Diff(tc.want, got.Disruption.MoveCost); diff != "" || got.NotReady != problem {
				t.Errorf("%s: %s, not ready: %q", tc.reason, diff, got.NotReady)
			}
		})
	}
}
