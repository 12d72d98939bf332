package solver

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/supply"
)

// TestBoundBelowBest compares the lower bound with the cheapest of all plans that
// put the same pods on new nodes, found by trying every one: each way to divide the
// pods among nodes, each offering for each node, proved by the independent checker.
func TestBoundBelowBest(t *testing.T) {
	worst, tried, dearer := 1.0, 0, 0
	for seed := range seeds(150) {
		g := newGenerator(seed)
		in := g.tiny()
		plan, stats := Solve(in)
		hold(t, seed, &in, &plan)
		if len(plan.Nodes) == 0 {
			continue
		}
		e := newEnumeration(&in, &plan)
		best, bound := e.cheapest(stats.Effective+stats.Fixed.USD()), LowerBound(in, &plan)
		if bound > best*(1+1e-4)+1e-6*float64(len(plan.Nodes)) || math.IsNaN(bound) || bound < 0 {
			t.Errorf("seed %d: the bound is %.6f $/h, and there is a plan for %.6f", seed, bound, best)
		}
		tried++
		worst = min(worst, bound/best)
		if stats.Effective+stats.Fixed.USD() > best*(1+1e-9) {
			dearer++
		}
	}
	t.Logf("%d plans, %d of them not the cheapest; the bound is %.0f %% of the cheapest plan or more", tried, dearer, 100*worst)
	if tried == 0 {
		t.Error("nothing was planned")
	}
}

// enumeration tries all plans for the pods that a plan puts on new nodes.
type enumeration struct {
	in   *Input
	plan *model.Plan
	pods []int32
	// fits are, by the set of pods on a node, the launches that hold them, cheapest
	// first.
	fits map[int][]launchable
	best float64
}

// launchable is a pool and an offering of its catalogue.
type launchable struct {
	node model.PlannedNode
	// typ and offering index the catalogue; least is the least that it may cost.
	typ, offering int
	least         float64
}

func newEnumeration(in *Input, plan *model.Plan) *enumeration {
	e := &enumeration{in: in, plan: plan, fits: map[int][]launchable{}}
	for i := range plan.Nodes {
		e.pods = append(e.pods, plan.Nodes[i].Pods...)
	}
	slices.Sort(e.pods)
	for set := 1; set < 1<<len(e.pods); set++ {
		e.fits[set] = e.launchables(set)
	}
	return e
}

// cheapest is the cost of the cheapest plan, at most that of a known one.
func (e *enumeration) cheapest(known float64) float64 {
	e.best = known
	e.divide(1<<len(e.pods)-1, 0, nil)
	return e.best
}

// divide gives the first pod that is left and any of the others a node.
func (e *enumeration) divide(left int, least float64, nodes []launchable) {
	if least >= e.best*(1-1e-9) {
		return
	}
	if left == 0 {
		if cost := e.cost(nodes); cost < e.best && e.holds(nodes) {
			e.best = cost
		}
		return
	}
	first := left & -left
	rest := left &^ first
	for others := rest; ; others = (others - 1) & rest {
		for _, l := range e.fits[first|others] {
			if least+l.least >= e.best*(1-1e-9) {
				break
			}
			e.divide(rest&^others, least+l.least, append(slices.Clip(nodes), l))
		}
		if others == 0 {
			return
		}
	}
}

// launchables are the ways to launch a node for a set of pods, as far as that is
// known without the other nodes.
func (e *enumeration) launchables(set int) []launchable {
	var pods []int32
	for i, pod := range e.pods {
		if set>>i&1 == 1 {
			pods = append(pods, pod)
		}
	}
	s := e.in.Snapshot
	var out []launchable
	for p := range s.Pools {
		c := &s.Catalogs[s.Pools[p].Catalog]
		for t := range c.Types {
			for o := range c.Types[t].Offerings {
				of := &c.Types[t].Offerings[o]
				l := launchable{typ: t, offering: o, least: of.Price.USD(), node: model.PlannedNode{Pool: int32(p), Pods: pods, Options: []model.Option{
					{InstanceType: c.Types[t].Name, Zone: of.Zone, CapacityType: of.CapacityType, Price: of.Price, Effective: of.Price.USD()},
				}}}
				if x := e.effective(&l); x != nil {
					if x.Excluded {
						continue
					}
					for _, tier := range x.Tiers {
						l.least = min(l.least, tier.Cost)
					}
				}
				l.least += c.NodeCost.USD()
				if e.proved([]launchable{l}, check.Spread, check.Affinity, check.Accounting) {
					out = append(out, l)
				}
			}
		}
	}
	slices.SortStableFunc(out, func(x, y launchable) int { return cmp.Compare(x.least, y.least) })
	return out
}

// effective is what the rank policies say of the launch, nil for nothing.
func (e *enumeration) effective(l *launchable) *supply.Effective {
	if len(e.in.Costs) == 0 || e.in.Costs[l.node.Pool] == nil {
		return nil
	}
	return &e.in.Costs[l.node.Pool][l.typ][l.offering]
}

// cost adds up what nodes cost, the tiers of each offering in order.
func (e *enumeration) cost(nodes []launchable) float64 {
	type offered struct {
		pool          int32
		typ, offering int
	}
	before, sum := map[offered]uint32{}, 0.0
	for i := range nodes {
		l := &nodes[i]
		cost := l.node.Options[0].Price.USD()
		key := offered{l.node.Pool, l.typ, l.offering}
		if x := e.effective(l); x != nil {
			for _, t := range x.Tiers {
				if t.Until == 0 || before[key] < t.Until {
					cost = t.Cost
					break
				}
			}
		}
		before[key]++
		sum += cost + e.in.Snapshot.NodeCost(l.node.Pool).USD()
	}
	return sum
}

// holds says whether the plan with other new nodes is a plan.
func (e *enumeration) holds(nodes []launchable) bool { return e.proved(nodes) && e.even(nodes) }

// even says whether spreads hold over what is on offer, too. The checker knows only
// of domains with nodes, as the Kubernetes scheduler does.
func (e *enumeration) even(nodes []launchable) bool {
	for at, pod := range e.pods {
		spec := &e.in.Snapshot.Specs[e.in.Snapshot.Pods[pod].Spec]
		for i := range spec.Spread {
			x := &spec.Spread[i]
			if x.Key != constraint.LabelZone && x.Key != constraint.LabelCapacityType {
				continue
			}
			counts := map[string]int32{}
			for _, l := range e.fits[1<<at] {
				counts[l.domain(x.Key)] = 0
			}
			e.count(counts, x, nodes)
			fewest, most := int32(math.MaxInt32), int32(0)
			for _, n := range counts {
				fewest, most = min(fewest, n), max(most, n)
			}
			if most-fewest > x.MaxSkew {
				return false
			}
		}
	}
	return true
}

// count adds the pods that a spread selects, by domain.
func (e *enumeration) count(counts map[string]int32, x *model.Spread, nodes []launchable) {
	s := e.in.Snapshot
	add := func(domain string, pod int32) {
		spec := &s.Specs[s.Pods[pod].Spec]
		if n, offered := counts[domain]; offered && x.Selector.Matches(spec.Namespace, spec.Labels) {
			counts[domain] = n + 1
		}
	}
	for i := range s.Pods {
		if at := s.Pods[i].Node; at >= 0 {
			add(s.Nodes[at].Labels[x.Key], int32(i))
		}
	}
	for _, a := range e.plan.Existing {
		for _, pod := range a.Pods {
			add(s.Nodes[a.Node].Labels[x.Key], pod)
		}
	}
	for i := range nodes {
		for _, pod := range nodes[i].node.Pods {
			add(nodes[i].domain(x.Key), pod)
		}
	}
}

// domain is the zone or the capacity type.
func (l *launchable) domain(key string) string {
	if key == constraint.LabelZone {
		return l.node.Options[0].Zone
	}
	return string(l.node.Options[0].CapacityType)
}

func (e *enumeration) proved(nodes []launchable, skip ...check.Kind) bool {
	plan := *e.plan
	plan.Nodes = nil
	for i := range nodes {
		plan.Nodes = append(plan.Nodes, nodes[i].node)
	}
	c := constraints(e.in)
	c.Skip = skip
	found := check.Plan(e.in.Snapshot, &plan, c)
	return len(found) == 0
}
