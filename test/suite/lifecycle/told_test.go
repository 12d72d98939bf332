package lifecycle

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	holds "spokeshave.dev/controller/kube/reconcile/donotdisrupt"
)

// held: a pod hears once until when its annotation holds, that the time is over,
// and that a value means nothing.
func held(t *testing.T, w *launchingCluster) {
	w.fleet(t, "held", 1)
	key := types.NamespacedName{Namespace: "default", Name: "held-0"}
	pod := &corev1.Pod{}
	if err := w.client.Get(t.Context(), key, pod); err != nil {
		t.Fatal(err)
	}
	start := pod.CreationTimestamp.Time
	at := clocktesting.NewFakePassiveClock(start)
	r := &holds.Reconciler{Client: w.client, Events: w.events, Clock: at}
	for _, tc := range []struct {
		why    string
		value  string // JSON
		after  time.Duration
		again  time.Duration
		reason string // of the one event more; none when empty
	}{
		{why: "a word is no duration", value: `"yes"`, reason: karpv1.EventInvalidDoNotDisruptAnnotation},
		{why: "it was told", value: `"yes"`},
		{why: "no duration goes backwards", value: `"-1h"`, reason: karpv1.EventInvalidDoNotDisruptAnnotation},
		{why: "without an end there is nothing to tell", value: `"true"`},
		{why: "a duration", value: `"1h"`, after: 10 * time.Minute, again: 50 * time.Minute, reason: karpv1.EventDoNotDisruptUntil},
		{why: "it lasts", value: `"1h"`, after: 59 * time.Minute, again: time.Minute},
		{why: "it is over", value: `"1h"`, after: time.Hour, reason: karpv1.EventDoNotDisruptGracePeriodElapsed},
		{why: "and stays so", value: `"1h"`, after: 3 * time.Hour},
	} {
		annotate(t, w, "held-0", tc.value)
		w.eventually(t, "the cache to show the annotation", func() bool {
			err := w.client.Get(t.Context(), key, pod)
			return err == nil && `"`+pod.Annotations[karpv1.AnnotationDoNotDisrupt]+`"` == tc.value
		})
		at.SetTime(start.Add(tc.after))
		told := &recorded{}
		r.Events = told
		next, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
		if err != nil || next.RequeueAfter != tc.again {
			t.Errorf("%s: look again in %s, want %s (%v)", tc.why, next.RequeueAfter, tc.again, err)
		}
		var want []string
		if tc.reason != "" {
			want = []string{tc.reason}
		}
		if !slices.Equal(told.reasons, want) {
			t.Errorf("%s: told %v, want %v", tc.why, told.reasons, want)
		}
	}
	// A controller that has just started does not tell what was over long ago.
	told := &recorded{}
	fresh := &holds.Reconciler{Client: w.client, Events: told, Clock: at}
	if _, err := fresh.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil || len(told.reasons) > 0 {
		t.Errorf("after a restart: told %v (%v)", told.reasons, err)
	}
	release(t, w, "held-0")
	w.end(t, "held-0")
}

// inconsistent: a node that has clearly less than its claim promised says so,
// once, and no longer when it has it.
func inconsistent(t *testing.T, w *launchingCluster) {
	w.fleetWith(t, "lean", 1, func(c *karpv1.NodeClaim) {
		c.Spec.Resources.Requests = karpv1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
		c.Spec.StartupTaints = nil
	})
	report := func(memory string) {
		w.eventually(t, "the node to report "+memory, func() bool {
			node := w.getNode(t, "node-lean-0").DeepCopy()
			base := node.DeepCopy()
			node.Status.Capacity[corev1.ResourceMemory] = resource.MustParse(memory)
			return w.client.Status().Patch(t.Context(), node, client.MergeFrom(base)) == nil
		})
	}
	state := func(want metav1.ConditionStatus) {
		t.Helper()
		w.eventually(t, "condition ConsistentStateFound to be "+string(want), func() bool {
			c := meta.FindStatusCondition(w.getClaim(t, "lean-0").Status.Conditions, karpv1.ConditionConsistentStateFound)
			return c != nil && c.Status == want
		})
	}
	state(metav1.ConditionTrue)
	report("7Gi")
	state(metav1.ConditionFalse)
	w.told(t, "lean-0", karpv1.EventFailedConsistencyCheck, "7Gi of resource memory", "87.5 %")
	report("8Gi")
	state(metav1.ConditionTrue)
	w.end(t, "lean-0")
}

// untainted: a node that joins without the unregistered taint may have got pods
// that are not meant for it.
func untainted(t *testing.T, w *launchingCluster) {
	w.claim(t, "bare", option("m5.large"))
	c := w.launched(t, "bare")
	w.joinWith(t, "node-bare", c.Status.ProviderID)
	w.told(t, "bare", karpv1.EventUnregisteredTaintMissing, "node-bare")
	w.claim(t, "tainted", option("m5.large"))
	w.join(t, "node-tainted", w.launched(t, "tainted").Status.ProviderID)
	for _, name := range []string{"bare", "tainted"} {
		w.eventually(t, "registration of "+name, func() bool {
			return meta.IsStatusConditionTrue(w.getClaim(t, name).Status.Conditions, karpv1.ConditionRegistered)
		})
	}
	if bare, tainted := w.count(t, "bare", karpv1.EventUnregisteredTaintMissing), w.count(t, "tainted", karpv1.EventUnregisteredTaintMissing); bare != 1 || tainted != 0 {
		t.Errorf("%d events about the node without the taint, want 1; %d about the one with it, want 0", bare, tainted)
	}
	w.end(t, "bare")
	w.end(t, "tainted")
}

// recorded is an events.EventRecorder that keeps the reasons.
type recorded struct{ reasons []string }

func (r *recorded) Eventf(_, _ runtime.Object, _, reason, _, _ string, _ ...any) {
	r.reasons = append(r.reasons, reason)
}
