package savings

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// clusters is how many are compared: 200 or more in a long run.
func clusters() uint64 {
	if n, err := strconv.Atoi(os.Getenv("SOAK")); err == nil {
		return uint64(max(n, 200))
	}
	if testing.Short() {
		return 5
	}
	return 12
}

// rounds bounds how long a cluster is consolidated; it comes to rest before.
const rounds = 300

// patience is how many searches may find nothing before a cluster counts as
// consolidated: each of them looks at other groups of nodes.
const patience = 6

// TestSavingsAsPlanned carries out the commands of both methods as they are
// planned, until there are none any more.
func TestSavingsAsPlanned(t *testing.T) {
	compare(t, (*cluster).carryOut, func(c *cluster) int { return c.plan(t) }, promise{least: 0.9, lostOneIn: 30, moves: 1.5})
}

// TestSavingsAsScheduled lets a scheduler that knows no plan put the pods that
// were evicted, each on the emptiest node, and launches nodes for those left
// over.
func TestSavingsAsScheduled(t *testing.T) {
	compare(t, (*cluster).replace, func(c *cluster) int { return c.decide(t) }, promise{lostOneIn: 10, moves: 1.1})
}

// promise is what ours holds besides saving as much on all clusters together. Both
// methods are greedy, so that the peer's may save more on a cluster.
type promise struct {
	// least is the share of the peer's saving that ours is on each cluster.
	least float64
	// lostOneIn is of how many clusters the peer's may save more on one.
	lostOneIn int
	// moves is how many pods ours moves at most for each that the peer's moves, on all clusters
	// together.
	moves float64
}

// compare consolidates many clusters by both methods.
func compare(t *testing.T, do func(*cluster, *move) int, search func(*cluster) int, most promise) {
	t.Helper()
	var all, theirs, ours model.Price
	var moved [2]int
	lost := 0
	for seed := range clusters() {
		c := newCluster(seed)
		a, b := c.clone(), c.clone()
		for range rounds {
			m := peer(a)
			if m == nil {
				break
			}
			moved[0] += do(a, m)
		}
		for idle := 0; idle < patience; idle++ {
			if n := search(b); n >= 0 {
				moved[1], idle = moved[1]+n, -1
			}
		}
		if b.cost() > a.cost() {
			lost++
			t.Logf("cluster %d at %s $/h becomes %s by the peer's method and %s by ours", seed, c.cost(), a.cost(), b.cost())
		}
		if theirs, ours := c.cost()-a.cost(), c.cost()-b.cost(); float64(ours) < most.least*float64(theirs) {
			t.Errorf("cluster %d at %s $/h: the peer's method saves %s, ours %s", seed, c.cost(), theirs, ours)
		}
		all, theirs, ours = all+c.cost(), theirs+a.cost(), ours+b.cost()
	}
	t.Logf("%s $/h become %s by the peer's method (%d pods moved) and %s by ours (%d, %.0f %%); theirs saves more on %d of %d",
		all, theirs, moved[0], ours, moved[1], 100*float64(moved[1])/float64(moved[0]), lost, clusters())
	if float64(moved[1]) > most.moves*float64(moved[0]) {
		t.Errorf("the peer's method moves %d pods, ours %d, more than %g times as many", moved[0], moved[1], most.moves)
	}
	if lost*most.lostOneIn > int(clusters()) {
		t.Errorf("the peer's method saves more on %d of %d clusters, more than one in %d", lost, clusters(), most.lostOneIn)
	}
	if ours > theirs {
		t.Errorf("the peer's method leaves %s $/h, ours %s", theirs, ours)
	}
}

// replace carries a command of the peer's out but for where the pods go.
func (c *cluster) replace(m *move) int {
	if m.typ != nil {
		c.add(m.typ, m.in)
	}
	return c.evict(m.nodes)
}

// carryOut does what the peer's command says.
func (c *cluster) carryOut(m *move) int {
	at := int32(-1)
	if m.typ != nil {
		at = c.add(m.typ, m.in)
	}
	for p, to := range m.to {
		if to < 0 {
			to = at
		}
		c.Pods[p].Node = to
	}
	c.drop(m.nodes)
	return len(m.to)
}

// plan searches once and does what was found; it returns how many pods moved,
// -1 when nothing was found.
func (c *cluster) plan(t *testing.T) int {
	t.Helper()
	v := disrupt.NewSurvey(c.Snapshot, nil)
	in := solver.Input{Snapshot: c.Snapshot, Blocked: make([]*model.Reason, 1), Costs: make([]solver.Costs, 1), Effort: solver.DefaultEffort, Tolerance: solver.DefaultTolerance}
	scene := disrupt.NewProjection(v, &in, nil)
	scene.Trusting = true
	var options []disrupt.Option
	var gone []int32
	for i := range c.Nodes {
		switch m, block, ok := v.Candidate(int32(i)); {
		case !ok || block != nil:
		case m == disrupt.Empty:
			gone = append(gone, int32(i))
			scene.Accept([]int32{int32(i)}, &model.Plan{})
		default:
			options = append(options, disrupt.Option{Node: int32(i), Cost: v.Cost(int32(i))})
		}
	}
	var found []*disrupt.Proposal
	scene.Search(options, []int{len(c.Nodes)}, disrupt.DefaultEffort(), func(p *disrupt.Proposal) []int32 {
		scene.Accept(p.Nodes, &p.Sim.Plan)
		found = append(found, p)
		return nil
	})
	moved := 0
	for _, p := range found {
		moved += len(p.Sim.Input.Pods)
		gone = append(gone, p.Nodes...)
		for i := range p.Sim.Plan.Nodes {
			n := &p.Sim.Plan.Nodes[i]
			at := c.add(c.typeOf(n.Options[0].InstanceType), n.Options[0].Zone)
			for _, pod := range n.Pods {
				c.Pods[pod].Node = at
			}
		}
		for _, a := range p.Sim.Plan.Existing {
			for _, pod := range a.Pods {
				c.Pods[pod].Node = a.Node
			}
		}
	}
	c.later()
	if len(gone) == 0 {
		return -1
	}
	c.drop(gone)
	return moved
}

// later moves the clock and with it the seed.
func (c *cluster) later() {
	c.Time = c.Time.Add(1)
	c.Seed++
}

// decide makes a decision and carries it out at once; it returns how many pods
// had to move, -1 when nothing was disrupted.
func (c *cluster) decide(t *testing.T) int {
	t.Helper()
	d, err := decide.Decide(t.Context(), c.Snapshot, nil, decide.Options{Disrupt: true, Search: true})
	if err != nil {
		t.Fatal(err)
	}
	var gone []int32
	for _, each := range d.Disruptions {
		if each.Go {
			gone = append(gone, each.Node)
		}
	}
	for i := range d.Commands {
		gone = append(gone, d.Commands[i].Nodes...)
		moved := c.ForMoved(d.Commands[i].Nodes)
		for _, n := range d.Commands[i].Replacements {
			c.Nodes[c.add(c.typeOf(n.Options[0].InstanceType), n.Options[0].Zone)].ForMoved = moved
		}
	}
	c.later()
	if len(gone) == 0 {
		return -1
	}
	return c.evict(gone)
}

// evict takes nodes away and schedules their pods anew, in random order.
func (c *cluster) evict(nodes []int32) int {
	var pods []int32
	for i := range c.Pods {
		if slices.Contains(nodes, c.Pods[i].Node) {
			pods = append(pods, int32(i))
		}
	}
	c.drop(nodes)
	c.rng.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	free := c.free()
	share := func(i int) float64 {
		n := &c.Nodes[i]
		return float64(free[i][model.CPU])/float64(n.Allocatable[model.CPU]) + float64(free[i][model.Memory])/float64(n.Allocatable[model.Memory])
	}
	for _, p := range pods {
		spec := &c.Specs[c.Pods[p].Spec]
		best := -1
		for i := range c.Nodes {
			if room(free[i], spec.Requests) && selects(spec, &c.Nodes[i]) && (best < 0 || cmp.Compare(share(i), share(best)) > 0) {
				best = i
			}
		}
		if best < 0 {
			typ, zone := c.single([]int32{p}, func(string) model.Price { return 1 << 60 })
			if typ == nil {
				panic(fmt.Sprint("no node for pod ", p))
			}
			best = int(c.add(typ, zone))
			c.Nodes[best].ForMoved = true
			free = append(free, typ.Allocatable.Clone())
		}
		c.Pods[p].Node = int32(best)
		take(free[best], spec.Requests)
	}
	return len(pods)
}
