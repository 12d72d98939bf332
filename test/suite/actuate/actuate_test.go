// Package actuate tests what carries decisions out, on a real API server.
package actuate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/actuate"
	"spokeshave.dev/controller/kube/announce"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/eventually"
)

func connect(t *testing.T) client.Client {
	t.Helper()
	return apiserver.Start(t).Client(t)
}

// lagging answers the first read of a claim as a watch cache does that has not
// seen the last change.
type lagging struct {
	client.Client
	old *karpv1.NodeClaim
}

func (c *lagging) Get(ctx context.Context, key client.ObjectKey, into client.Object, o ...client.GetOption) error {
	if claim, ok := into.(*karpv1.NodeClaim); ok && c.old != nil {
		c.old.DeepCopyInto(claim)
		c.old = nil
		return nil
	}
	return c.Client.Get(ctx, key, into, o...)
}

// Two decisions in a row find room on one node in flight, and the second sees
// the claim as it was before the first: no planned pod may be forgotten, for
// nobody would plan it again until the node has joined without it.
func TestAssignKeepsWhatWasPlanned(t *testing.T) {
	c := connect(t)
	claim := &karpv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "general-1", Annotations: map[string]string{karpv1.AnnotationPlannedPods: `["default/a"]`}},
		Spec: karpv1.NodeClaimSpec{
			Requirements: []karpv1.Requirement{{Key: "example.com/fixed", Operator: corev1.NodeSelectorOpIn, Values: []string{"one"}}},
			NodeClassRef: karpv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"},
		},
	}
	if err := c.Create(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	old := claim.DeepCopy()
	snapshot := &model.Snapshot{
		Nodes: []model.Node{{Name: "general-1", Claim: "general-1", State: model.InFlight}},
		Pods:  []model.Pod{{Namespace: "default", Name: "b"}, {Namespace: "default", Name: "c"}},
		Specs: []model.PodSpec{{Namespace: "default"}},
	}
	decision := func(pod int32) *decide.Decision {
		return &decide.Decision{Plan: model.Plan{Existing: []model.Assignment{{Node: 0, Pods: []int32{pod}}}}}
	}
	a := &actuate.Actuator{Client: c}
	if _, err := a.Assign(t.Context(), snapshot, decision(0)); err != nil {
		t.Fatal(err)
	}
	a.Client = &lagging{Client: c, old: old}
	done, err := a.Assign(t.Context(), snapshot, decision(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil {
		t.Fatal(err)
	}
	text := claim.Annotations[karpv1.AnnotationPlannedPods]
	var got []string
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"default/a", "default/b", "default/c"}, got); diff != "" {
		t.Errorf("planned pods (-want +got):\n%s", diff)
	}
	if done.Planned["general-1"] != text {
		t.Errorf("the next decision would wait for %s, the claim says %s", done.Planned["general-1"], text)
	}
}

func TestAnnounce(t *testing.T) {
	c := connect(t)
	recorder, err := announce.New(c, "spokeshave", clock.RealClock{}, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1", UID: "1234"}}
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "general-1"}}
	recorder.Eventf(pod, claim, corev1.EventTypeNormal, karpv1.EventNominated, "Launch", "should run on nodeclaim/%s", claim.Name)
	recorder.Eventf(claim, nil, corev1.EventTypeNormal, karpv1.EventNominated, "Launch", "about what has no namespace")

	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- recorder.Start(ctx) }()
	var list eventsv1.EventList
	eventually.Ok(t, "two events", func() (string, bool) {
		if err := c.List(t.Context(), &list, client.InNamespace("default")); err != nil {
			t.Fatal(err)
		}
		// The API server has events of its own.
		list.Items = slices.DeleteFunc(list.Items, func(e eventsv1.Event) bool { return e.ReportingController != "spokeshave" })
		return fmt.Sprint(len(list.Items), " are there"), len(list.Items) >= 2
	})
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	type told struct{ About, Related, Reason, Action, Type, Note, From string }
	got := map[string]told{}
	for i := range list.Items {
		e := &list.Items[i]
		each := told{e.Regarding.Kind + "/" + e.Regarding.Name + "/" + string(e.Regarding.UID), "", e.Reason, e.Action, e.Type, e.Note, e.ReportingController}
		if e.Related != nil {
			each.Related = e.Related.Kind + "/" + e.Related.Name
		}
		got[e.Regarding.Kind] = each
	}
	want := map[string]told{
		"Pod":       {"Pod/web-1/1234", "NodeClaim/general-1", "Nominated", "Launch", "Normal", "should run on nodeclaim/general-1", "spokeshave"},
		"NodeClaim": {"NodeClaim/general-1/", "", "Nominated", "Launch", "Normal", "about what has no namespace", "spokeshave"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
