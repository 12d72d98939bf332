package actuate

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/actuate"
	"spokeshave.dev/controller/kube/announce"
	"spokeshave.dev/test/kit/eventually"
)

// TestEventsNameTheirObjects: kubectl describe finds an event by the UID of the
// object that it is about, not by the name, so every event has to carry it; also
// when what it is about was made by the same decision before a restart.
func TestEventsNameTheirObjects(t *testing.T) {
	c := connect(t)
	recorder, err := announce.New(c, "spokeshave", clock.RealClock{}, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	a := &actuate.Actuator{Client: c, Reporter: &actuate.Reporter{Client: c, Events: recorder, Unmerged: recorder}}
	pool := &karpv1.NodePool{
		ObjectMeta: metav1.ObjectMeta{Name: "general"},
		Spec: karpv1.NodePoolSpec{Template: karpv1.NodeClaimTemplate{Spec: karpv1.NodeClaimTemplateSpec{
			Requirements: []karpv1.Requirement{{Key: "kubernetes.io/os", Operator: corev1.NodeSelectorOpIn, Values: []string{"linux"}}},
			NodeClassRef: karpv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"},
		}}},
	}
	if err := c.Create(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	machine(t, c, "old", "claim-old")
	pools := map[string]*karpv1.NodePool{pool.Name: pool}
	s, d := replacing(pool.Name)
	for range 2 { // the second time the replacement is there
		if _, err := a.Command(t.Context(), s, pools, d); err != nil {
			t.Fatal(err)
		}
	}
	d.Commands[0].Stage, d.Commands[0].Reason = decide.Wait, "a replacement is not ready"
	if _, err := a.Command(t.Context(), s, pools, d); err != nil {
		t.Fatal(err)
	}
	d.Plan.Unplaced = []model.Unplaced{{Pod: 0, Reasons: []model.Reason{{Message: "no room"}}}}
	a.Reporter.TellUnplaced(s, pools, d)

	want := map[string]int{
		"NodeClaim " + karpv1.EventDisruptionLaunching: 2, "NodeClaim " + karpv1.EventDisruptionWaitingReadiness: 1,
		"NodePool " + karpv1.EventFailedScheduling:   1,
		"Node " + karpv1.EventConsolidationCandidate: 2, "NodeClaim " + karpv1.EventConsolidationCandidate: 2,
	}
	got := map[string]int{}
	for _, e := range sent(t, c, recorder, 8) {
		about := &metav1.PartialObjectMetadata{}
		about.APIVersion, about.Kind = e.InvolvedObject.APIVersion, e.InvolvedObject.Kind
		if err := c.Get(t.Context(), types.NamespacedName{Name: e.InvolvedObject.Name}, about); err != nil {
			t.Fatal(err)
		}
		got[e.InvolvedObject.Kind+" "+e.Reason]++
		if e.InvolvedObject.UID != about.UID {
			t.Errorf("event %s is about UID %q, %s %s has %q", e.Reason, e.InvolvedObject.UID, about.Kind, about.Name, about.UID)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// replacing is a node that is to be replaced by another, and a placeholder
// without a place.
func replacing(pool string) (*model.Snapshot, *decide.Decision) {
	s := &model.Snapshot{
		Time: time.Now(), Pools: []model.Pool{{Name: pool}},
		Nodes: []model.Node{{Name: "old", Claim: "claim-old", State: model.Initialized}},
		Pods:  []model.Pod{{UID: "place-1", Name: "place-1", Node: -1}},
		Specs: []model.PodSpec{{NodeSelector: map[string]string{karpv1.LabelNodePool: pool}, Tolerations: []model.Toleration{{Key: model.Placeholder}}}},
	}
	return s, &decide.Decision{ID: "d", Commands: []decide.Command{{
		Method: disrupt.Underutilized, Stage: decide.Start, Nodes: []int32{0}, Savings: 500_000,
		Replacements: []model.PlannedNode{{Options: []model.Option{{InstanceType: "m5.large", Zone: "a", CapacityType: model.OnDemand, Price: 100_000}}}},
	}}}
}

// sent are the events once there are so many.
func sent(t *testing.T, c client.Client, recorder *announce.Recorder, n int) []corev1.Event {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- recorder.Start(ctx) }()
	var list corev1.EventList
	eventually.Ok(t, fmt.Sprint(n, " events"), func() (string, bool) {
		if err := c.List(t.Context(), &list); err != nil {
			t.Fatal(err)
		}
		list.Items = slices.DeleteFunc(list.Items, func(e corev1.Event) bool { return e.ReportingController != "spokeshave" })
		return fmt.Sprint(len(list.Items), " are there"), len(list.Items) >= n
	})
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return list.Items
}
