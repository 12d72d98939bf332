package decision

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/actuate"
	"spokeshave.dev/controller/kube/cluster"
	"spokeshave.dev/controller/kube/metric"
	"spokeshave.dev/controller/record/journal"
)

func start() time.Time { return time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC) }

// view is a snapshot with NodePools a and b and three pods that wait.
func view(after time.Duration, generation int64) *cluster.View {
	pool := func(name string, generation int64) *karpv1.NodePool {
		return &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: generation}}
	}
	return &cluster.View{
		Pools: map[string]*karpv1.NodePool{"a": pool("a", generation), "b": pool("b", 1)},
		Snapshot: model.Snapshot{
			Time: start().Add(after), Pools: []model.Pool{{Name: "a"}, {Name: "b"}}, Specs: []model.PodSpec{{}},
			Pods: []model.Pod{{UID: "1", Node: -1}, {UID: "2", Node: -1}, {UID: "3", Node: -1}},
		},
	}
}

// TestHolds: what is left out of a decision at which time after a refusal.
func TestHolds(t *testing.T) {
	refusal := func(pods ...types.UID) *actuate.RefusedError {
		return &actuate.RefusedError{Kind: "NodeClaim", Pool: "a", Name: "a-1", Pods: pods, Err: errors.New("no a-1 here")}
	}
	type state struct {
		Pods     []string
		NotReady string
	}
	const no = "the API server refuses the NodeClaim: no a here"
	for name, tc := range map[string]struct {
		reason   string
		refuse   func(*holds)
		after    time.Duration
		edited   bool
		accepted bool
		want     state
	}{
		"pool": {
			reason: "nothing is launched from a pool that is refused, and its pods may go elsewhere",
			refuse: func(h *holds) { h.refused(start(), refusal("1"), 1, false) }, after: 4 * time.Second, want: state{NotReady: no},
		},
		"pods": {
			reason: "the pool is free before the pods that were refused",
			refuse: func(h *holds) { h.refused(start(), refusal("1"), 1, false) }, after: 6 * time.Second, want: state{Pods: []string{"1"}},
		},
		"free":   {reason: "then they are tried again", refuse: func(h *holds) { h.refused(start(), refusal("1"), 1, false) }, after: 11 * time.Second},
		"edited": {reason: "an edit ends all", refuse: func(h *holds) { h.refused(start(), refusal("1"), 1, false) }, after: time.Second, edited: true},
		"half": {
			reason: "of many pods the first half is tried first",
			refuse: func(h *holds) { h.refused(start(), refusal("1", "2", "3"), 1, true) }, after: 15 * time.Second, want: state{Pods: []string{"3"}},
		},
		"again": {
			reason: "each further refusal of a pod doubles its pause",
			refuse: func(h *holds) {
				for range 3 {
					h.refused(start(), refusal("1"), 1, true)
				}
			},
			after: 39 * time.Second, want: state{Pods: []string{"1"}},
		},
		"once in an application": {
			reason: "three refusals of one application are one for the pool",
			refuse: func(h *holds) {
				for _, pod := range []types.UID{"1", "2", "3"} {
					h.refused(start(), refusal(pod), 1, false)
				}
			},
			after: 6 * time.Second, want: state{Pods: []string{"1", "2", "3"}},
		},
		"accepted": {
			reason: "a claim that is accepted frees the pool at once",
			refuse: func(h *holds) { h.refused(start(), refusal("1"), 1, false) }, after: time.Second, accepted: true, want: state{Pods: []string{"1"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var h holds
			tc.refuse(&h)
			if tc.accepted {
				h.accepted("a")
			}
			v := view(tc.after, 1)
			if tc.edited {
				v = view(tc.after, 2)
			}
			n := h.apply(v)
			var got state
			for i := range v.Snapshot.Pods {
				if p := &v.Snapshot.Pods[i]; p.Held != nil {
					got.Pods = append(got.Pods, p.UID)
				}
			}
			got.NotReady = v.Snapshot.Pools[0].NotReady
			if diff := cmp.Diff(tc.want, got); diff != "" || n != len(tc.want.Pods) {
				t.Errorf("%s: %d pods, -want +got\n%s", tc.reason, n, diff)
			}
			if wait, ok := h.wait(v.Snapshot.Time); ok && wait <= 0 {
				t.Errorf("%s: the loop would spin: %s", tc.reason, wait)
			}
		})
	}
}

// TestPauses: pauses double up to their limit.
func TestPauses(t *testing.T) {
	b := backoff{time.Second, 8 * time.Second}
	var got []time.Duration
	for i := range 6 {
		got = append(got, b.after(i+1)/time.Second)
	}
	if diff := cmp.Diff([]time.Duration{1, 2, 4, 8, 8, 8}, got); diff != "" {
		t.Error(diff)
	}
	if far := b.after(1 << 30); far != 8*time.Second {
		t.Errorf("after very many failures %s", far)
	}
}

// TestPanickingRounds: rounds that panic do not end the loop, and however often it is
// woken, they are made further and further apart.
func TestPanickingRounds(t *testing.T) {
	registry := prometheus.NewRegistry()
	shared, err := metric.NewReconcilers(registry)
	if err != nil {
		t.Fatal(err)
	}
	now := testclock.NewFakeClock(start())
	l := New(Config{ // without a cluster: every round panics
		Clock: now, Metrics: metric.NewDecisions(registry, shared), Journal: journal.New(1, 32<<20),
		Await: func(context.Context) error { return nil },
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Start(ctx) }()
	rounds := func() (n float64) {
		families, err := registry.Gather()
		if err != nil {
			t.Error(err)
		}
		for _, f := range families {
			if f.GetName() != "spokeshave_decision_failures_total" {
				continue
			}
			for _, m := range f.GetMetric() {
				n += m.GetCounter().GetValue()
			}
		}
		return n
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && rounds() < 6; {
		l.Wake()
		if now.HasWaiters() {
			now.Step(200 * time.Millisecond)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if took := now.Since(start()); rounds() < 6 || took < 31*time.Second {
		t.Errorf("%v rounds panicked within %s, want pauses of 1, 2, 4, 8 and 16 s", rounds(), took)
	}
	if l.Busy() != 0 {
		t.Error("a loop that has ended is busy")
	}
}

// TestFailuresHold: the pods and the part that a decision failed on are left out of the
// next ones, and a decision without the failure ends that.
func TestFailuresHold(t *testing.T) {
	v := view(0, 1)
	var h holds
	panicked := decide.Failure{Kind: decide.Panicked, Part: decide.Provisioning, Pods: []int32{1}}
	disrupting := decide.Failure{Kind: decide.Panicked, Part: decide.Disrupting}
	h.failed(&journal.Decided{Snapshot: &v.Snapshot, Decision: &decide.Decision{Failures: []decide.Failure{panicked, disrupting}}})
	next := view(time.Second, 1)
	if n := h.apply(next); n != 1 || next.Snapshot.Pods[1].Held == nil || !next.Snapshot.Time.Before(h.disruption.until) {
		t.Errorf("%d pods are held, disruption until %s", n, h.disruption.until)
	}
	h.failed(&journal.Decided{Snapshot: &next.Snapshot, Decision: &decide.Decision{Disrupted: true}, Options: decide.Options{Search: true}})
	if !h.disruption.until.IsZero() {
		t.Error("disruption stays held after it has worked")
	}
	unproven := decide.Failure{Kind: decide.Unproven, Part: decide.Provisioning, Pods: []int32{0}}
	h.failed(&journal.Decided{Snapshot: &next.Snapshot, Decision: &decide.Decision{Disrupted: true, Failures: []decide.Failure{unproven}}})
	if n := h.apply(view(2*time.Second, 1)); n != 1 {
		t.Errorf("%d pods are held: what cannot be proven is left out anyhow", n)
	}
}

// While the search is held, a search that a cap brought forward does not make the loop
// decide without a pause.
func TestHeldSearchDoesNotSpin(t *testing.T) {
	now := start()
	for name, tc := range map[string]struct {
		reason string
		holds  holds
		want   time.Duration
	}{
		"nothing is held":    {reason: "the search is due", want: 0},
		"search is held":     {reason: "it is due when the hold ends", holds: holds{search: hold{until: now.Add(7 * time.Second)}}, want: 7 * time.Second},
		"disruption is held": {reason: "the search is a part of it", holds: holds{disruption: hold{until: now.Add(8 * time.Second)}}, want: 8 * time.Second},
		"long hold":          {reason: "the loop decides at least every ten seconds", holds: holds{search: hold{until: now.Add(time.Minute)}}, want: 10 * time.Second},
	} {
		l := New(Config{Every: 10 * time.Second})
		l.holds, l.search.early = tc.holds, now
		if got := l.next(&decide.Decision{Time: now}); got != tc.want {
			t.Errorf("%s: the next decision is after %s, want %s: %s", name, got, tc.want, tc.reason)
		}
	}
}
