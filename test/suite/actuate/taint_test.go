package actuate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/actuate"
	"spokeshave.dev/controller/kube/cluster"
)

// TestTaint: a node bears the taint from when it was judged empty; what the next
// decision makes of it says whether it keeps it. A node is never said to have lost
// and to have got it in one decision: no cache could show both.
func TestTaint(t *testing.T) {
	c := connect(t)
	machine(t, c, "one", "claim-1")
	told := new(heard)
	a := &actuate.Actuator{Client: c, Reporter: &actuate.Reporter{Client: c, Events: told, Unmerged: told}}
	taint := karpv1.DisruptedTaint()
	one := model.Node{
		Name: "one", Claim: "claim-1", State: model.Initialized,
		Taints: []model.Taint{{Key: taint.Key, Effect: model.NoSchedule}},
	}
	for _, tc := range []struct {
		reason   string
		decision decide.Decision
		want     cluster.Change
		tainted  bool
	}{
		{
			reason:   "a pod came, and is to move: the taint stays where it is",
			decision: decide.Decision{ID: "d", Commands: []decide.Command{{Stage: decide.Start, Method: disrupt.Underutilized, Nodes: []int32{0}}}},
			want:     cluster.Change{Tainted: []string{"one"}, Marked: []string{"claim-1"}}, tainted: true,
		},
		{reason: "a pod came, and stays", decision: decide.Decision{ID: "d"}, want: cluster.Change{Untainted: []string{"one"}}},
	} {
		node := &corev1.Node{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: "one"}, node); err != nil {
			t.Fatal(err)
		}
		node.Spec.Taints = []corev1.Taint{taint}
		if err := c.Update(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		s := &model.Snapshot{Time: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC), Nodes: []model.Node{one}}
		done, err := a.Disrupt(t.Context(), s, &tc.decision)
		if err != nil {
			t.Fatal(err)
		}
		more, err := a.Command(t.Context(), s, nil, &tc.decision)
		if err != nil {
			t.Fatal(err)
		}
		done.Add(&more)
		if diff := cmp.Diff(tc.want, done); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
		if err := c.Get(t.Context(), client.ObjectKey{Name: "one"}, node); err != nil {
			t.Fatal(err)
		}
		if got := node.Spec.Taints; (len(got) == 1 && got[0].Key == taint.Key) != tc.tainted {
			t.Errorf("%s: taints %v", tc.reason, got)
		}
	}
}
