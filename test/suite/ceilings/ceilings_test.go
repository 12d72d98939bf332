package ceilings

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/condition"
)

// rounds is how many decisions each cluster sees.
const rounds = 24

// seeds is how many clusters are shaken: some in every test run, as many as SEEDS
// says in a long one. SEED is the first of them.
func seeds() int {
	if n, err := strconv.Atoi(os.Getenv("SEEDS")); err == nil {
		return n
	}
	if testing.Short() {
		return 40
	}
	return 150
}

// TestCapsHold: whatever happens, nothing is launched that takes what EC2 bills
// and what is still to come above a hard cap.
func TestCapsHold(t *testing.T) {
	first := uint64(0)
	if n, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		first = n
	}
	var mu sync.Mutex
	var all tally
	t.Run("clusters", func(t *testing.T) {
		workers := runtime.GOMAXPROCS(0)
		for part := range workers {
			t.Run(fmt.Sprint(part), func(t *testing.T) {
				t.Parallel()
				for seed := first + uint64(part); seed < first+uint64(seeds()); seed += uint64(workers) {
					w := newCluster(t, seed)
					w.log("seed %d", seed)
					w.live()
					mu.Lock()
					all.add(w.tally)
					mu.Unlock()
				}
			})
		}
	})
	t.Logf("%d clusters: %+v", seeds(), all)
	if seeds() >= 40 && (all.launched == 0 || all.replaced == 0 || all.refused == 0 || all.restarts == 0 || all.static == 0 || all.months == 0 || all.excused == 0 || all.relieved == 0 || all.rests == 0 || all.counted == 0 || seeds() >= 1000 && all.back == 0) {
		t.Errorf("%+v: a test that tries nothing proves nothing", all)
	}
}

// live shakes the cluster and lets the controller decide, over and over.
func (w *cappedCluster) live() {
	w.newPods(1 + w.rng.IntN(8))
	for range rounds {
		w.work()
		w.advance(time.Duration(1+w.rng.IntN(40)) * time.Second)
		if w.chance(15) {
			w.advance(time.Duration(1+w.rng.IntN(45)) * time.Minute)
		}
		if w.chance(12) {
			w.rest()
		}
		for range w.rng.IntN(3) {
			w.shake()
		}
		w.work()
		if mute := w.chance(8); mute != w.mute {
			w.mute = mute
			w.excuse()
		}
		w.decide()
	}
}

// decide makes a decision, holds it against the caps, and carries it out; the
// controller may stop at any point of it.
func (w *cappedCluster) decide() {
	s := w.snapshot()
	// The loop searches at once when a cap begins to keep pods waiting.
	d, err := decide.Decide(w.t.Context(), s, []policy.Policy{w}, decide.Options{LastCaps: w.last, Disrupt: true, Search: w.chance(2) || w.short})
	if err != nil {
		w.fail("decide: %v", err)
	}
	if w.mute && w.last == nil && len(d.Plan.Nodes) > 0 {
		w.fail("%d nodes are to be launched while nobody knows of any cap", len(d.Plan.Nodes))
	}
	w.last, w.short = d.Caps, len(d.Short()) > 0
	if w.short {
		w.tally.short++
		for i := range d.Commands {
			if d.Commands[i].Stage == decide.Start {
				w.tally.relieved++
			}
		}
	}
	before := map[string]model.Price{}
	for scope := range w.limits() {
		before[scope] = w.committed(scope)
	}
	w.tally.refused += len(d.Plan.Unplaced)
	w.counts(&d, before)
	whole := d
	whole.Plan.Nodes = slices.Clone(d.Plan.Nodes)
	for i := range d.Commands {
		if c := &d.Commands[i]; c.Stage == decide.Start {
			whole.Plan.Nodes = append(whole.Plan.Nodes, c.Replacements...)
		}
	}
	w.holds(s, &d, before)
	if w.apply(s, &d, &whole) {
		w.stands(s, &d, before)
	}
	w.excuse() // pods may have got room on nodes that were there
}

// stands fails when a scope has more committed, now that the launches of a decision
// are written down, than its cap, or than it had before.
func (w *cappedCluster) stands(s *model.Snapshot, d *decide.Decision, before map[string]model.Price) {
	w.t.Helper()
	nodes := slices.Clone(d.Plan.Nodes)
	for i := range d.Commands {
		switch c := &d.Commands[i]; c.Stage {
		case decide.Start:
			nodes = append(nodes, c.Replacements...)
		case decide.Undo:
			return // both nodes count from now on
		case decide.Wait, decide.Finish:
		}
	}
	for scope, limit := range w.limits() {
		if w.planned(s, nodes, scope) == 0 {
			continue
		}
		if now := w.committed(scope); now > max(limit, before[scope])+w.slack(scope) {
			w.fail("%s: %s are committed with what was launched, %s before, above the cap of %s; the controller counted %s",
				scope, now, before[scope], limit, counted(d, scope))
		}
	}
}

// rest lets days pass in which nothing happens, so that a month has a past. The
// controller has looked at the cluster before, and nothing was under way.
func (w *cappedCluster) rest() {
	if w.dark() || slices.ContainsFunc(w.claims, func(c *karpv1.NodeClaim) bool {
		return !c.DeletionTimestamp.IsZero() || !condition.IsTrue(c.Status.Conditions, karpv1.ConditionInitialized)
	}) {
		return
	}
	w.snapshot()
	d := time.Duration(1+w.rng.IntN(72)) * time.Hour
	w.log("nothing happens for %s", d)
	w.advance(d)
	w.tally.rests++
}

// counts fails when the controller takes a hard cap to leave more room than EC2's
// bill and what is in flight do, whether anything is launched into it or not. In the
// dark nothing can be.
func (w *cappedCluster) counts(d *decide.Decision, before map[string]model.Price) {
	w.t.Helper()
	if w.dark() {
		return
	}
	for i := range d.Headroom {
		h := &d.Headroom[i]
		if limit, ok := w.limits()[h.Scope]; ok && !h.Soft {
			w.tally.counted++
			if left := max(0, limit-before[h.Scope]); h.Left > left+w.slack(h.Scope) {
				w.fail("%s: the controller counts %s left under %s, where %s are: %s of %s are committed", h.Scope, h.Left, h.Cap, left, before[h.Scope], limit)
			}
		}
	}
}

// holds fails when the decision takes a scope above its cap. Replacements may
// take what the nodes that go cost besides what is left: both run for a while.
func (w *cappedCluster) holds(s *model.Snapshot, d *decide.Decision, before map[string]model.Price) {
	w.t.Helper()
	undone := map[string]bool{}
	for i := range d.Commands {
		if c := &d.Commands[i]; c.Stage == decide.Undo {
			for _, n := range c.Nodes {
				undone[s.Nodes[n].Claim] = true
			}
		}
	}
	for scope, limit := range w.limits() {
		added := w.planned(s, d.Plan.Nodes, scope)
		back := w.surge(scope, nil) - w.surge(scope, undone) // what is taken back stays, and counts from now on
		if added > 0 && back > 0 {
			w.tally.back++
		}
		if added > 0 && before[scope]+back+added > limit+w.slack(scope) {
			w.fail("%s: %s committed, %s of replacements taken back, %s planned, above the cap of %s; the controller counts %s",
				scope, before[scope], back, added, limit, counted(d, scope))
		}
		var fresh, freed model.Price
		for i := range d.Commands {
			if c := &d.Commands[i]; c.Stage == decide.Start && len(c.Replacements) > 0 {
				fresh += w.planned(s, c.Replacements, scope)
				for _, n := range c.Nodes {
					if !strings.HasPrefix(scope, "namespace/") && w.within(scope, s.Pools[s.Nodes[n].Pool].Name) {
						freed += s.Nodes[n].Price
					}
				}
			}
		}
		if left := max(0, limit-before[scope]-added); fresh > freed+left+w.slack(scope) {
			w.fail("%s: replacements at %s for nodes at %s with %s left under the cap of %s", scope, fresh, freed, left, limit)
		}
	}
}

// slack is what rounding may make: of shares a micro-dollar a pod, of the month
// what a launch costs until it is written down, and some micro-dollars of its sum,
// which in the last seconds are much an hour.
func (w *cappedCluster) slack(scope string) model.Price {
	slack := model.Price(100)
	if strings.HasPrefix(scope, "namespace/") {
		slack = 200
	}
	if c := w.said[scope]; c.MonthlyUSD != nil {
		now := w.clock.Now()
		slack += model.Price(5 / monthEnd(now).Sub(now).Hours())
	}
	return slack
}

func counted(d *decide.Decision, scope string) string {
	for _, h := range d.Headroom {
		if h.Scope == scope {
			return fmt.Sprintf("%s left under %s", h.Left, h.Cap)
		}
	}
	return "no such cap"
}

// planned is the worst that nodes to launch may cost in a scope.
func (w *cappedCluster) planned(s *model.Snapshot, nodes []model.PlannedNode, scope string) model.Price {
	sum := model.Price(0)
	namespace, shared := strings.CutPrefix(scope, "namespace/")
	for i := range nodes {
		n := &nodes[i]
		if !shared {
			if w.within(scope, s.Pools[n.Pool].Name) {
				sum += w.worst(n.Options)
			}
			continue
		}
		keys := make([]string, 0, len(n.Pods))
		for _, p := range n.Pods {
			keys = append(keys, s.Pods[p].Key())
		}
		worst := 0.0
		for _, o := range n.Options {
			worst = max(worst, w.part(namespace, keys, &o))
		}
		sum += model.Price(max(0, worst-w.left(namespace, keys, w.cloud.Bill())))
	}
	return sum
}
