package backtest

import (
	"container/heap"
	"strings"
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"spokeshave.dev/controller/core/model"
)

// each runs a workload and checks the state after every event.
func each(t *testing.T, cfg Config, look func(*simulation)) *Result {
	t.Helper()
	w, err := newWorld(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for w.queue.Len() > 0 {
		e := heap.Pop(&w.queue).(event)
		if e.at.After(cfg.Workload.End) {
			break
		}
		w.advance(e.at)
		if err := e.do(t.Context()); err != nil {
			t.Fatal(err)
		}
		look(w)
	}
	return w.result()
}

// guarded returns a workload whose pods have a budget with the given number of pods
// that may be away.
func guarded(away int, capacity ...string) *Workload {
	w := workload(300, capacity...)
	w.Budgets = []Budget{{
		PodBudget: model.PodBudget{Namespace: "shop", Name: "b", Selector: model.PodSelector{Namespaces: []string{"shop"}}},
		Away:      func(int) int { return away },
	}}
	return w
}

// TestPodBudgets: drains leave no more pods without a node than a budget allows, and
// take longer because of it. With a budget of 0 no node is drained.
func TestPodBudgets(t *testing.T) {
	free, err := Run(t.Context(), Config{Workload: workload(300, "on-demand"), Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for away := range 2 {
		r := each(t, Config{Workload: guarded(away, "on-demand"), Seed: 3}, func(w *simulation) {
			n := 0
			for _, p := range w.pods {
				if !p.gone && !p.daemon && p.node == nil && strings.Contains(p.Name, "-r") {
					n++
				}
			}
			if n > away {
				t.Fatalf("%s: %d evicted pods are without a node, %d may be", w.now(), n, away)
			}
		})
		if (r.Evictions > 0) != (away > 0) { // how many there are depends on the course that the budget changes
			t.Errorf("%d may be away: %d evictions, %d without a budget", away, r.Evictions, free.Evictions)
		}
		if r.Pods != 300 || r.Pending != 0 {
			t.Errorf("%d may be away: %d pods came, %d wait", away, r.Pods, r.Pending)
		}
	}
	if free.Evictions == 0 {
		t.Error("nothing is evicted, and so nothing is held back")
	}
}

// TestNoticeBoundsDrains: an interrupted instance ends two minutes after its notice,
// regardless of budgets.
func TestNoticeBoundsDrains(t *testing.T) {
	since := map[*machine]time.Time{}
	r := each(t, Config{Workload: guarded(0, "spot"), Seed: 3, Market: Market{Interruptions: 300}}, func(w *simulation) {
		for _, m := range w.nodes {
			if !m.deleting {
				continue
			}
			if since[m].IsZero() {
				since[m] = w.now()
			}
			if d := w.now().Sub(since[m]); d > notice {
				t.Fatalf("%s: %s has been on its way out for %s", w.now(), m.Name, d)
			}
		}
	})
	if r.Interruptions == 0 || r.Evictions == 0 || len(since) == 0 {
		t.Errorf("%d interruptions, %d evictions, %d drains that took time", r.Interruptions, r.Evictions, len(since))
	}
}

func TestBudgetsOf(t *testing.T) {
	pdb := func(name string, least, most *intstr.IntOrString) *policyv1.PodDisruptionBudget {
		out := &policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: least, MaxUnavailable: most}}
		out.Namespace, out.Name = "shop", name
		return out
	}
	for name, tc := range map[string]struct {
		reason      string
		least, most *intstr.IntOrString
		want        int
	}{
		"max":         {reason: "a number", most: new(intstr.FromInt32(2)), want: 2},
		"max percent": {reason: "a part, rounded up", most: new(intstr.FromString("25%")), want: 3},
		"min":         {reason: "what is left of 9", least: new(intstr.FromInt32(7)), want: 2},
		"min percent": {reason: "half of 9 is 5", least: new(intstr.FromString("50%")), want: 4},
		"too many":    {reason: "more than there are: none may go", least: new(intstr.FromInt32(12)), want: -3},
	} {
		t.Run(name, func(t *testing.T) {
			got := budgetsOf([]*policyv1.PodDisruptionBudget{pdb("other", nil, nil), pdb("b", tc.least, tc.most)}, []model.PodBudget{{Namespace: "shop", Name: "b"}, {Namespace: "gone", Name: "b"}})
			if len(got) != 1 || got[0].Away(9) != tc.want {
				t.Errorf("%s: %+v: %d of 9 may be away, want %d", tc.reason, got, got[0].Away(9), tc.want)
			}
		})
	}
}
