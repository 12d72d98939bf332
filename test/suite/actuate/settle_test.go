package actuate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/actuate"
	"spokeshave.dev/controller/kube/cluster"
	"spokeshave.dev/controller/kube/places"
)

// TestSettle: pods that have come move from the announced pods of a claim to its planned
// ones, those that will not come are taken off, and a claim that is gone is nobody's loss.
func TestSettle(t *testing.T) {
	c := connect(t)
	claim := &karpv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "general-1", Annotations: map[string]string{
			karpv1.AnnotationPlannedPods: `["shop/web-0"]`, karpv1.AnnotationAnnouncedPods: `{"ReplicaSet/shop/web":3,"Job/shop/sum":2}`,
		}},
		Spec: karpv1.NodeClaimSpec{
			Requirements: []karpv1.Requirement{{Key: "example.com/fixed", Operator: corev1.NodeSelectorOpIn, Values: []string{"one"}}},
			NodeClassRef: karpv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"},
		},
	}
	another := claim.DeepCopy()
	another.Name = "another"
	for _, each := range []*karpv1.NodeClaim{claim, another} {
		if err := c.Create(t.Context(), each); err != nil {
			t.Fatal(err)
		}
	}
	a := &actuate.Actuator{Client: c, Places: places.New(clock.RealClock{})}
	a.Places.Take("shop/web-9", "another") // it was let in there since the snapshot
	a.Places.Take("shop/web-3", "gone")    // so was this one, but the claim is gone
	says := func(when string, planned, announced string) {
		t.Helper()
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{"planned": claim.Annotations[karpv1.AnnotationPlannedPods], "announced": claim.Annotations[karpv1.AnnotationAnnouncedPods]}
		if diff := cmp.Diff(map[string]string{"planned": planned, "announced": announced}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	done, err := a.Settle(t.Context(), cluster.AnnouncedChanges{
		"general-1": {Come: []cluster.Arrival{{Pod: "shop/web-1", Owner: "ReplicaSet/shop/web"}, {Pod: "shop/web-9", Owner: "ReplicaSet/shop/web"}}, Fewer: map[string]int{"Job/shop/sum": 2}},
		"gone":      {Come: []cluster.Arrival{{Pod: "shop/web-2", Owner: "ReplicaSet/shop/web"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	says("one has come, another has its place elsewhere, and two of the Job will not come", `["shop/web-0","shop/web-1"]`, `{"ReplicaSet/shop/web":2}`)
	if diff := cmp.Diff(map[string]string{"general-1": `["shop/web-0","shop/web-1"]`}, done.Planned); diff != "" {
		t.Errorf("what the next decision waits for (-want +got):\n%s", diff)
	}
	s := &model.Snapshot{
		Nodes: []model.Node{{Name: "general-1", Claim: "general-1", State: model.InFlight}},
		Pods:  []model.Pod{{Namespace: "shop", Name: "sum-1"}, {Namespace: "shop", Name: "sum (announced 1)", Announced: "Job/shop/sum"}},
		Specs: []model.PodSpec{{Namespace: "shop"}},
	}
	if _, err := a.Assign(t.Context(), s, &decide.Decision{Plan: model.Plan{Existing: []model.Assignment{{Node: 0, Pods: []int32{0, 1}}}}}); err != nil {
		t.Fatal(err)
	}
	says("another decision finds room on the node", `["shop/sum-1","shop/web-0","shop/web-1"]`, `{"Job/shop/sum":1,"ReplicaSet/shop/web":2}`)
	if _, err := a.Settle(t.Context(), cluster.AnnouncedChanges{"general-1": {Come: []cluster.Arrival{{Pod: "shop/web-2", Owner: "ReplicaSet/shop/web"}, {Pod: "shop/web-3", Owner: "ReplicaSet/shop/web"}}, Fewer: map[string]int{"Job/shop/sum": 1}}}); err != nil {
		t.Fatal(err)
	}
	says("nobody is announced any more", `["shop/sum-1","shop/web-0","shop/web-1","shop/web-2","shop/web-3"]`, "")
}
