package nodepool

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

func claim(pool string, change func(*karpv1.NodeClaim)) *karpv1.NodeClaim {
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{karpv1.LabelNodePool: pool}}}
	if change != nil {
		change(c)
	}
	return c
}

func capacity(cpu string) func(*karpv1.NodeClaim) {
	return func(c *karpv1.NodeClaim) {
		c.Status.Capacity = karpv1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
}

// TestCounted: a claim's status changes a dozen times while its node starts. Only the
// change of its capacity makes its pool count again.
func TestCounted(t *testing.T) {
	cases := map[string]struct {
		why           string
		before, after *karpv1.NodeClaim
		want          bool
	}{
		"condition": {"conditions count nothing", claim("a", capacity("4")), claim("a", func(c *karpv1.NodeClaim) {
			capacity("4000m")(c)
			c.Status.Conditions = []metav1.Condition{{Type: karpv1.ConditionLaunched, Status: metav1.ConditionTrue}}
		}), false},
		"launched": {"the capacity becomes known", claim("a", nil), claim("a", capacity("4")), true},
		"learned":  {"the node has another one than the type promised", claim("a", capacity("4")), claim("a", capacity("3")), true},
		"moved":    {"two pools hold something else", claim("a", nil), claim("b", nil), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := capacityChanged().Update(event.UpdateEvent{ObjectOld: tc.before, ObjectNew: tc.after}); got != tc.want {
				t.Errorf("%s: passes %v, want %v", tc.why, got, tc.want)
			}
		})
	}
	if !capacityChanged().Create(event.CreateEvent{Object: claim("a", nil)}) || !capacityChanged().Delete(event.DeleteEvent{Object: claim("a", nil)}) {
		t.Error("claims that come and go have to pass")
	}
}

// queue records the requests that are added, and after how long.
type queue struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	asked map[string]time.Duration
}

func (q *queue) AddAfter(r reconcile.Request, d time.Duration) { q.asked[r.Name] = d }

// TestSoon: both the pool that a claim leaves and the one that it joins are enqueued
// after a delay. A workqueue keeps one such request per pool.
func TestSoon(t *testing.T) {
	q := &queue{asked: map[string]time.Duration{}}
	h := enqueueLater(poolOf)
	h.Create(t.Context(), event.CreateEvent{Object: claim("new", nil)}, q)
	h.Update(t.Context(), event.UpdateEvent{ObjectOld: claim("left", nil), ObjectNew: claim("joined", nil)}, q)
	h.Delete(t.Context(), event.DeleteEvent{Object: claim("gone", nil)}, q)
	h.Create(t.Context(), event.CreateEvent{Object: claim("", nil)}, q)
	want := map[string]time.Duration{"new": countDelay, "left": countDelay, "joined": countDelay, "gone": countDelay}
	if diff := cmp.Diff(want, q.asked); diff != "" {
		t.Error(diff)
	}
}
