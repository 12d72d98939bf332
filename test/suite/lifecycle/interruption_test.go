package lifecycle

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/app"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/kube/reconcile/forceful"
	"spokeshave.dev/controller/kube/reconcile/interruption"
	"spokeshave.dev/test/kit/eventually"
)

// fleet launches and joins nodes, each with a pod, and returns the instances.
func (w *launchingCluster) fleet(t *testing.T, prefix string, n int) []string {
	t.Helper()
	return w.fleetWith(t, prefix, n, func(*karpv1.NodeClaim) {})
}

// fleetWith is fleet of claims that are changed before they are made.
func (w *launchingCluster) fleetWith(t *testing.T, prefix string, n int, change func(*karpv1.NodeClaim)) []string {
	t.Helper()
	out := make([]string, n)
	var work errgroup.Group
	work.SetLimit(20)
	for i := range n {
		work.Go(func() error {
			name := fmt.Sprintf("%s-%d", prefix, i)
			c := w.claimFor(t, name, option("m5.large"))
			change(c)
			w.create(t, c)
			out[i] = path.Base(w.launched(t, name).Status.ProviderID)
			w.join(t, "node-"+name, w.getClaim(t, name).Status.ProviderID)
			w.eventually(t, "registration of "+name, func() bool {
				return condition.IsTrue(w.getClaim(t, name).Status.Conditions, karpv1.ConditionRegistered)
			})
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": name}},
				Spec: corev1.PodSpec{
					NodeName: "node-" + name, TerminationGracePeriodSeconds: new(int64),
					Containers: []corev1.Container{{Name: "main", Image: "example.com/app:1"}},
				},
			}
			w.create(t, pod)
			w.eventually(t, "the cache to show pod "+name, func() bool {
				return w.client.Get(t.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{}) == nil
			})
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		t.Fatal(err)
	}
	return out
}

// listen starts a watcher over the cloud's announcements.
func (w *launchingCluster) listen(t *testing.T) {
	t.Helper()
	watcher := &interruption.Watcher{
		Client: w.client, Source: w.cloud, Events: w.events, Clock: clock.RealClock{}, Every: time.Hour,
		Deleter: &forceful.Deleter{Client: w.client, Clock: clock.RealClock{}},
	}
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { _ = watcher.Start(ctx) })
	t.Cleanup(func() { cancel(); done.Wait() })
}

// notice is how long EC2 leaves a spot instance.
const notice = 2 * time.Minute

// interruptions: a hundred nodes are interrupted at once, and two minutes are
// enough for their pods to leave and the instances to end. How fast this machine
// is says nothing about that; what decides is whether a node waits for another,
// and whether what all of them ask of the API server goes through the
// controller's rate limit in that time.
func interruptions(t *testing.T, w *launchingCluster) {
	const nodes = 100
	ids := w.fleet(t, "spot", nodes)
	names := make([]string, nodes)
	for i := range nodes {
		names[i] = fmt.Sprintf("spot-%d", i)
		hold(t, w, names[i])
	}
	w.eventually(t, "the cache to show that the pods are held", func() bool {
		return !slices.ContainsFunc(names, func(name string) bool { return w.getPod(t, name).Annotations[karpv1.AnnotationDoNotDisrupt] == "" })
	})
	w.listen(t)
	asked := w.asked.count("")
	now := time.Now()
	for _, id := range ids {
		// The deadline is far away: pods leave because they are evicted.
		w.cloud.Announce(provider.Event{Kind: provider.SpotInterrupted, InstanceID: id, At: now, Deadline: now.Add(24 * time.Hour)})
	}
	w.countdown(t, "nodes to wait for others", names, func(name string) bool {
		n := w.getNode(t, "node-"+name)
		return n != nil && slices.ContainsFunc(n.Spec.Taints, func(x corev1.Taint) bool { return x.Key == karpv1.TaintKeyDisrupted })
	})
	for _, name := range names {
		if w.getClaim(t, name) == nil || w.living(name) == 0 {
			t.Errorf("%s has ended although its pod may not be evicted", name)
		}
	}
	for _, name := range names {
		release(t, w, name)
	}
	w.countdown(t, "nodes to end", names, func(name string) bool { return w.getClaim(t, name) == nil && w.living(name) == 0 })
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	options := app.Options{}
	options.Bind(flags)
	used, most := w.asked.count("")-asked, int(float64(options.QPS)*notice.Seconds()/2)
	t.Logf("%d nodes took %d requests, of which the controller may make %.0f a second", nodes, used, options.QPS)
	if used > most {
		t.Errorf("%d nodes took %d requests, more than half of what two minutes allow (%d)", nodes, used, most)
	}
}

// countdown waits until something is true of every name. It gives up when none
// has been added for a while, however long the whole takes.
func (w *launchingCluster) countdown(t *testing.T, what string, names []string, done func(string) bool) {
	t.Helper()
	for left := slices.Clone(names); len(left) > 0; {
		eventually.Ok(t, what, func() (string, bool) {
			before := len(left)
			w.clock.Advance(400 * time.Millisecond)
			left = slices.DeleteFunc(left, done)
			if len(left) == 0 {
				return "", true
			}
			return fmt.Sprintf("%d of %d are left, first %s", len(left), len(names), left[0]), len(left) < before
		})
	}
}

// announced: what each kind of event does to the node it is about.
func announced(t *testing.T, w *launchingCluster) {
	soon := time.Now().Add(2 * time.Minute).Truncate(time.Second)
	cases := map[string]struct {
		reason    string
		event     provider.Event
		rebalance bool
		condition string // of DisruptionReason; the node stays when empty
		deadline  string
	}{
		"spot":      {reason: "the drain ends before the instance does", event: provider.Event{Kind: provider.SpotInterrupted, Deadline: soon}, condition: "SpotInterrupted", deadline: soon.Add(-10 * time.Second).UTC().Format(time.RFC3339)},
		"block":     {reason: "the drain ends before EC2 begins to end the block's instances", event: provider.Event{Kind: provider.ReservationEnds, Deadline: soon}, condition: "CapacityBlockEnding", deadline: soon.Add(-10 * time.Second).UTC().Format(time.RFC3339)},
		"reclaimed": {reason: "the owner's two minutes are all there is", event: provider.Event{Kind: provider.ReservationReclaims, Deadline: soon}, condition: "CapacityReservationInterrupted", deadline: soon.Add(-10 * time.Second).UTC().Format(time.RFC3339)},
		"scheduled": {reason: "a change in days does not hurry a drain now", event: provider.Event{Kind: provider.ScheduledChange, Deadline: soon}, condition: "ScheduledChange"},
		"rebalance": {reason: "a recommendation is no order", event: provider.Event{Kind: provider.RebalanceRecommend}},
		"leave":     {reason: "unless the operator takes it for one", event: provider.Event{Kind: provider.RebalanceRecommend}, rebalance: true, condition: "RebalanceRecommendation"},
	}
	for name, tc := range cases {
		id := w.fleet(t, "event-"+name, 1)[0]
		claim := "event-" + name + "-0"
		hold(t, w, claim)
		tc.event.InstanceID = id
		watcher := &interruption.Watcher{
			Client: w.client, Events: w.events, Clock: clock.RealClock{}, Rebalance: tc.rebalance,
			Deleter: &forceful.Deleter{Client: w.client, Clock: clock.RealClock{}},
		}
		for range 2 { // messages come more than once
			if err := watcher.Handle(t.Context(), tc.event); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if tc.condition == "" {
			if c := w.getClaim(t, claim); c == nil || !c.DeletionTimestamp.IsZero() {
				t.Errorf("%s: %s: the claim is deleted", name, tc.reason)
			}
			release(t, w, claim)
			w.end(t, claim)
			continue
		}
		w.eventually(t, name+": the claim to be deleted", func() bool {
			c := w.getClaim(t, claim)
			return c != nil && !c.DeletionTimestamp.IsZero()
		})
		c := w.getClaim(t, claim)
		if r := meta.FindStatusCondition(c.Status.Conditions, karpv1.ConditionDisruptionReason); r == nil || r.Reason != tc.condition {
			t.Errorf("%s: condition DisruptionReason %+v, want reason %s", name, r, tc.condition)
		}
		if got := c.Annotations[karpv1.AnnotationTerminationTimestamp]; got != tc.deadline {
			t.Errorf("%s: %s: deadline %q, want %q", name, tc.reason, got, tc.deadline)
		}
		if noticed := lower.Node(nil, c, time.Now()).Noticed; noticed != (tc.deadline != "") {
			t.Errorf("%s: what replaces the node may be launched under a full cap: %v", name, noticed)
		}
		release(t, w, claim)
		w.eventually(t, name+": the claim to go", func() bool { return w.getClaim(t, claim) == nil })
	}
	stranger := provider.Event{Kind: provider.SpotInterrupted, InstanceID: "i-stranger"}
	watcher := &interruption.Watcher{Client: w.client, Events: w.events, Clock: clock.RealClock{}, Deleter: &forceful.Deleter{Client: w.client, Clock: clock.RealClock{}}}
	if err := watcher.Handle(t.Context(), stranger); err != nil {
		t.Errorf("an instance that nobody knows: %v", err)
	}
}

// broken: an instance whose status check fails is not drained: its pods could
// not stop.
func broken(t *testing.T, w *launchingCluster) {
	id := w.fleet(t, "broken", 1)[0]
	hold(t, w, "broken-0")
	w.cloud.Trouble(provider.Event{Kind: provider.InstanceStatus, InstanceID: id}, provider.Event{Kind: provider.EventStatus, InstanceID: "i-stranger"})
	watcher := &interruption.Watcher{
		Client: w.client, Source: w.cloud, Events: w.events, Clock: clock.RealClock{},
		Deleter: &forceful.Deleter{Client: w.client, Clock: clock.RealClock{}},
	}
	if err := watcher.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.eventually(t, "the node and its instance to go, although its pod may not be evicted", func() bool {
		return w.getClaim(t, "broken-0") == nil && w.living("broken-0") == 0
	})
}

// blockEnds: the nodes of a capacity block near its end are drained, asked after and
// not announced; what will not leave by itself has left by the deadline, and the
// other nodes stay.
func blockEnds(t *testing.T, w *launchingCluster) {
	ids := w.fleet(t, "block", 2)
	stays := w.fleet(t, "noblock", 1)[0]
	hold(t, w, "block-1") // its pod leaves at the deadline only
	margin := 10 * time.Second
	deadline := time.Now().Add(margin + 8*time.Second).Truncate(time.Second)
	var ends []provider.Event
	for _, id := range ids {
		ends = append(ends, provider.Event{Kind: provider.ReservationEnds, InstanceID: id, At: time.Now(), Deadline: deadline})
	}
	w.cloud.Trouble(ends...)
	watcher := &interruption.Watcher{
		Client: w.client, Source: w.cloud, Events: w.events, Clock: clock.RealClock{},
		Deleter: &forceful.Deleter{Client: w.client, Clock: clock.RealClock{}},
	}
	for range 2 { // asked every minute: what is on its way out stays as it is
		if err := watcher.Poll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w.eventually(t, "the node without a reason to stay to be drained", func() bool {
		return w.getClaim(t, "block-0") == nil && w.living("block-0") == 0
	})
	if c := w.getClaim(t, "block-1"); c == nil && time.Now().Before(deadline.Add(-margin)) {
		t.Error("the pod that may not be evicted was, before the deadline")
	} else if want := deadline.Add(-margin).UTC().Format(time.RFC3339); c != nil && c.Annotations[karpv1.AnnotationTerminationTimestamp] != want {
		t.Errorf("deadline %q, want %q", c.Annotations[karpv1.AnnotationTerminationTimestamp], want)
	}
	w.eventually(t, "the other node to go at its deadline", func() bool {
		return w.getClaim(t, "block-1") == nil && w.living("block-1") == 0
	})
	if c := w.getClaim(t, "noblock-0"); c == nil || !c.DeletionTimestamp.IsZero() {
		t.Errorf("%s, which is in no block, was ended", stays)
	}
	w.cloud.Trouble()
	w.end(t, "noblock-0")
}

// hold keeps the claim's pod from being evicted, release lets it go.
func hold(t *testing.T, w *launchingCluster, name string) { annotate(t, w, name, `"true"`) }

func release(t *testing.T, w *launchingCluster, name string) { annotate(t, w, name, "null") }

func annotate(t *testing.T, w *launchingCluster, name, value string) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, karpv1.AnnotationDoNotDisrupt, value)
	if err := w.client.Patch(t.Context(), pod, client.RawPatch(types.MergePatchType, patch)); err != nil {
		t.Fatal(err)
	}
}
