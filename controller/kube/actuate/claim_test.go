package actuate

import (
	"testing"
	"time"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// TestClaimsForMovedPods: a claim says whether it was made while pods had to leave other nodes,
// and a replacement whether that holds for what it replaces.
func TestClaimsForMovedPods(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		leaving bool // a node with pods
		// moved says that the node to be replaced was launched for moved pods.
		moved                 bool
		launched, replacement string
	}{
		"growth":        {reason: "no node has left"},
		"while leaving": {reason: "the waiting pods may be the leaving node's; a replacement is for others", leaving: true, launched: "true"},
		"inherited":     {reason: "the replacement is for pods that have moved already", moved: true, replacement: "true"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &model.Snapshot{
				Time: time.Unix(0, 0), Pools: []model.Pool{{Name: "general"}}, Catalogs: []model.Catalog{{}},
				Nodes: []model.Node{{Claim: "old", State: model.Initialized, ForMoved: tc.moved}},
			}
			if tc.leaving {
				s.Departed = []model.Departure{{Claim: "a", Time: s.Time, Pods: 2}}
			}
			pool := &karpv1.NodePool{}
			pool.Name, pool.Spec.Template.Spec.NodeClassRef = "general", karpv1.NodeClassReference{Name: "default"}
			planned := []model.PlannedNode{{Options: []model.Option{{InstanceType: "m5.large"}}}}
			d := &decide.Decision{ID: "d", Plan: model.Plan{Nodes: planned}}
			launched, err := Claim(s, pool, d, 0)
			if err != nil {
				t.Fatal(err)
			}
			to := execution{s: s, pools: map[string]*karpv1.NodePool{"general": pool}, d: d}
			replacement, err := to.replacement(&decide.Command{Nodes: []int32{0}, Replacements: planned}, 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			if got := launched.Annotations[karpv1.AnnotationForMovedPods]; got != tc.launched {
				t.Errorf("%s: launched for waiting pods: %q, want %q", tc.reason, got, tc.launched)
			}
			if got := replacement.Annotations[karpv1.AnnotationForMovedPods]; got != tc.replacement {
				t.Errorf("%s: launched as a replacement: %q, want %q", tc.reason, got, tc.replacement)
			}
		})
	}
}
