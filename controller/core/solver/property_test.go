package solver

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/supply"
)

// hold fails the test for everything that is wrong with a plan.
func hold(tb testing.TB, seed uint64, in *Input, plan *model.Plan) {
	tb.Helper()
	for _, v := range check.Plan(in.Snapshot, plan, constraints(in)) {
		tb.Errorf("seed %d: %s", seed, v)
	}
	for i, text := range slices.Concat(needlesslyUnplaced(in, plan), prove(in, plan)) {
		if i < 5 {
			tb.Errorf("seed %d: %s", seed, text)
		}
	}
}

// mostPlaced fails when less than half of the pods of random snapshots have a place.
// About seven in ten have; the others cannot.
func mostPlaced(t *testing.T, placed, asked int) {
	t.Helper()
	if t.Logf("%d of %d pods placed", placed, asked); placed*2 < asked {
		t.Errorf("%d of %d pods placed, want half of them at least", placed, asked)
	}
}

// TestPlansHold proves the plans of random snapshots, with and without
// policies, by the independent checker.
func TestPlansHold(t *testing.T) {
	placed, asked := 0, 0
	for seed := range seeds(250) {
		g := newGenerator(seed)
		in := g.input(1 + g.IntN(120))
		if seed%2 == 1 {
			g.policies(&in)
		}
		plan, _ := Solve(in)
		hold(t, seed, &in, &plan)
		asked += len(in.Pods)
		placed += len(in.Pods) - len(plan.Unplaced)
	}
	mostPlaced(t, placed, asked)
}

// TestTopologyHolds proves plans of pods with all kinds of topology constraints.
func TestTopologyHolds(t *testing.T) {
	placed, asked := 0, 0
	for seed := range seeds(120) {
		g := newGenerator(seed)
		in := g.input(1 + g.IntN(100))
		if seed%3 == 1 {
			g.policies(&in)
		}
		g.Topology()
		plan, _ := Solve(in)
		hold(t, seed, &in, &plan)
		asked += len(in.Pods)
		placed += len(in.Pods) - len(plan.Unplaced)
	}
	mostPlaced(t, placed, asked)
}

// FuzzSolve does the same for seeds that a fuzzer chooses. Every fourth seed has no more
// constraints than first fit knows: as many pods have to find a place.
func FuzzSolve(f *testing.F) {
	f.Add(uint64(1), 10, true)
	f.Add(uint64(2), 110, false)
	f.Add(uint64(5), 100, false)
	f.Fuzz(func(t *testing.T, seed uint64, pods int, policies bool) {
		g := newGenerator(seed)
		in := g.input(1 + max(0, pods)%40) // few enough for the ten seconds that a fuzzer waits, on a busy machine too
		plain := seed%4 == 1 && !policies
		if policies {
			g.policies(&in)
		}
		if plain {
			g.plain(&in)
		}
		if seed%2 == 0 {
			g.Topology()
		}
		plan, _ := Solve(in)
		hold(t, seed, &in, &plan)
		if !plain {
			return
		}
		b := baseline{s: in.Snapshot}
		if _, unplaced := b.cost(in.Pods); len(plan.Unplaced) != unplaced {
			t.Errorf("seed %d: %d of %d pods unplaced, first fit leaves %d", seed, len(plan.Unplaced), len(in.Pods), unplaced)
		}
	})
}

// TestRepeatable solves a snapshot twice, then with all its lists shuffled:
// the plan has to be the same, pod by pod.
func TestRepeatable(t *testing.T) {
	share := uint64(40)
	if testing.Short() {
		share = 10 // three plans each
	}
	for seed := range seeds(share) {
		g := newGenerator(seed)
		in := g.input(1 + g.IntN(150))
		if seed%2 == 1 {
			g.policies(&in)
		}
		if seed%3 > 0 {
			g.Topology()
		}
		first, _ := Solve(in)
		again, _ := Solve(in)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Fatalf("seed %d: a second solve differs\n%s", seed, diff)
		}
		other := g.shuffle(&in)
		shuffled, _ := Solve(other)
		if diff := cmp.Diff(named(in.Snapshot, &first), named(other.Snapshot, &shuffled)); diff != "" {
			t.Fatalf("seed %d: the order of the lists matters\n%s", seed, diff)
		}
	}
}

// named writes a plan without indices, in its own order.
func named(s *model.Snapshot, plan *model.Plan) []string {
	var out []string
	write := func(what string, pods []int32, more any) {
		names := make([]string, len(pods))
		for i, p := range pods {
			names[i] = s.Pods[p].Name
		}
		raw, err := json.Marshal(more)
		if err != nil {
			raw = []byte(err.Error())
		}
		text, _ := json.Marshal(names)
		out = append(out, what+" "+string(text)+" "+string(raw))
	}
	for _, a := range plan.Existing {
		write(s.Nodes[a.Node].Name, a.Pods, nil)
	}
	for _, n := range plan.Nodes {
		write(s.Pools[n.Pool].Name, n.Pods, n.Options)
	}
	for _, u := range plan.Unplaced {
		write("unplaced", []int32{u.Pod}, u.Reasons)
	}
	return out
}

// shuffle is the same question with all lists in another order.
func (g *generator) shuffle(in *Input) Input {
	old := in.Snapshot
	s := *old
	out := *in
	out.Snapshot = &s
	pools, nodes, pods, specs := g.Perm(len(s.Pools)), g.Perm(len(s.Nodes)), g.Perm(len(s.Pods)), g.Perm(len(s.Specs))
	s.Pools, s.Nodes = make([]model.Pool, len(pools)), make([]model.Node, len(nodes))
	s.Pods, s.Specs = make([]model.Pod, len(pods)), make([]model.PodSpec, len(specs))
	if in.Costs != nil {
		out.Costs = make([]supply.Costs, len(pools))
	}
	catalogs := make([]model.Catalog, len(s.Catalogs))
	orders := make([][]int, len(catalogs))
	for c := range catalogs {
		catalogs[c] = s.Catalogs[c]
		orders[c] = g.Perm(len(catalogs[c].Types))
		types := make([]model.InstanceType, len(orders[c]))
		for t, at := range orders[c] {
			types[at] = s.Catalogs[c].Types[t]
			types[at].Offerings = slices.Clone(types[at].Offerings)
			slices.Reverse(types[at].Offerings)
		}
		catalogs[c].Types = types
	}
	s.Catalogs = catalogs
	for i, at := range pools {
		s.Pools[at] = old.Pools[i]
		s.Pools[at].Requirements = slices.Clone(s.Pools[at].Requirements)
		slices.Reverse(s.Pools[at].Requirements)
		if in.Costs != nil {
			order := orders[old.Pools[i].Catalog]
			out.Costs[at] = make(supply.Costs, len(order))
			for t, to := range order {
				out.Costs[at][to] = slices.Clone(in.Costs[i][t])
				slices.Reverse(out.Costs[at][to])
			}
		}
	}
	for i, at := range nodes {
		s.Nodes[at] = old.Nodes[i]
		if s.Nodes[at].Pool >= 0 {
			s.Nodes[at].Pool = int32(pools[s.Nodes[at].Pool])
		}
	}
	for i, at := range specs {
		s.Specs[at] = old.Specs[i]
	}
	for i, at := range pods {
		s.Pods[at] = old.Pods[i]
		s.Pods[at].Spec = int32(specs[s.Pods[at].Spec])
		if s.Pods[at].Node >= 0 {
			s.Pods[at].Node = int32(nodes[s.Pods[at].Node])
		}
	}
	out.Pods = nil
	for _, i := range in.Pods {
		out.Pods = append(out.Pods, int32(pods[i]))
	}
	slices.Reverse(out.Pods)
	out.Headroom = slices.Clone(in.Headroom)
	for h := range out.Headroom {
		if out.Headroom[h].Pools != nil {
			marked := make([]bool, len(pools))
			for i, at := range pools {
				marked[at] = in.Headroom[h].Pools[i]
			}
			out.Headroom[h].Pools = marked
		}
	}
	out.Denied = slices.Clone(in.Denied)
	for d := range out.Denied {
		out.Denied[d].Pool = int32(pools[out.Denied[d].Pool])
	}
	s.Daemons = slices.Clone(s.Daemons)
	slices.Reverse(s.Daemons)
	return out
}

// plain drops what the baseline does not know.
func (g *generator) plain(in *Input) {
	g.Snapshot.Nodes = nil
	in.Pods = nil
	for i := range g.Snapshot.Pods {
		g.Snapshot.Pods[i].Node = -1
		in.Pods = append(in.Pods, int32(i))
	}
	for i := range g.Snapshot.Pools {
		g.Snapshot.Pools[i].Weight, g.Snapshot.Pools[i].Limits = 0, nil
		for r := range g.Snapshot.Pools[i].Requirements {
			if q := &g.Snapshot.Pools[i].Requirements[r]; q.Key == "example.com/team" {
				*q = model.Requirement{Key: q.Key, Operator: model.In, Values: []string{"red"}}
			}
		}
	}
	for i := range g.Snapshot.Specs {
		g.Snapshot.Specs[i].HostPorts = nil
	}
	for i := range g.Snapshot.Daemons {
		g.Snapshot.Daemons[i].Spec.HostPorts = nil
	}
}

// seeds is how many random scenarios a property is tried on: a small share as
// a rule, as many as SOAK says in a long run.
func seeds(share uint64) uint64 {
	if n, err := strconv.ParseUint(os.Getenv("SOAK"), 10, 64); err == nil {
		return n
	}
	if testing.Short() { // the race detector finds what it finds in the first ones
		return min(share, max(20, share/10))
	}
	return share
}

// TestNeverDearerThanFirstFit compares with first fit by decreasing size and
// the cheapest type afterwards. Keeping off PreferNoSchedule taints costs money:
// plans that do are compared with each other, and so are those that do not.
func TestNeverDearerThanFirstFit(t *testing.T) {
	ours, theirs := 0.0, 0.0
	for seed := range seeds(60) {
		g := newGenerator(seed)
		in := g.input(1 + g.IntN(150))
		g.plain(&in)
		in.Effort = DefaultEffort
		for _, ignore := range []bool{false, true} {
			if ignore && !g.prefersNoPods() {
				continue // the same again
			}
			in.Snapshot.Settings.IgnorePreferences = ignore
			plan, stats := Solve(in)
			hold(t, seed, &in, &plan)
			b := baseline{s: in.Snapshot}
			cost, unplaced := b.cost(in.Pods)
			if len(plan.Unplaced) != unplaced {
				t.Errorf("seed %d: %d pods unplaced, the baseline leaves %d", seed, len(plan.Unplaced), unplaced)
			}
			if stats.Billed.USD() > cost*(1+1e-9) {
				t.Errorf("seed %d: %d pods cost %.4f $/h, the baseline's plan %.4f (%+.1f %%; preferences ignored: %v)",
					seed, len(in.Pods), stats.Billed.USD(), cost, 100*(stats.Billed.USD()/cost-1), ignore)
			}
			ours += stats.Billed.USD()
			theirs += cost
		}
	}
	t.Logf("in all %.2f $/h against %.2f: %.3f of the baseline", ours, theirs, ours/theirs)
}

// prefersNoPods says whether a pool has a PreferNoSchedule taint.
func (g *generator) prefersNoPods() bool {
	return slices.ContainsFunc(g.Snapshot.Pools, func(p model.Pool) bool {
		return slices.ContainsFunc(p.Taints, func(x model.Taint) bool { return x.Effect == model.PreferNoSchedule })
	})
}

// TestManySizes gives every pod a size of its own, so that items are joined. The
// plan is valid, leaves out no pod that first fit places, and is cheaper.
func TestManySizes(t *testing.T) {
	if testing.Short() {
		t.Skip("makes many plans, which is slow under the race detector; other tests run the same concurrent code")
	}
	for seed := range seeds(6) {
		g := newGenerator(seed)
		in := g.input(400 + g.IntN(300))
		if seed%3 > 0 {
			g.plain(&in)
		} else {
			g.policies(&in)
		}
		base := slices.Clone(g.Snapshot.Specs)
		g.Snapshot.Specs = g.Snapshot.Specs[:0]
		for i := range g.Snapshot.Pods {
			s := base[g.Snapshot.Pods[i].Spec]
			s.Requests = s.Requests.Clone()
			s.Requests["cpu"] += int64(g.IntN(900))
			s.Requests["memory"] += int64(g.IntN(2 * gib))
			g.Snapshot.Pods[i].Spec = int32(len(g.Snapshot.Specs))
			g.Snapshot.Specs = append(g.Snapshot.Specs, s)
		}
		in.Effort = DefaultEffort
		plan, stats := Solve(in)
		hold(t, seed, &in, &plan)
		if seed%3 == 0 {
			continue
		}
		b := baseline{s: in.Snapshot}
		cost, unplaced := b.cost(in.Pods)
		t.Logf("seed %d: %d rows, %.3f of the baseline", seed, stats.Items, stats.Billed.USD()/cost)
		if len(plan.Unplaced) != unplaced || stats.Billed.USD() > cost {
			t.Errorf("seed %d: %.4f $/h and %d unplaced, the baseline %.4f and %d", seed, stats.Billed.USD(), len(plan.Unplaced), cost, unplaced)
		}
	}
}
