package check

import (
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// Kind classifies violations.
type Kind string

// The kinds of violations.
const (
	// BadReference: an index or a name leads nowhere.
	BadReference Kind = "BadReference"
	// Accounting: a pod is placed twice, or lost.
	Accounting Kind = "Accounting"
	// Resources: requests exceed what the node leaves to pods.
	Resources Kind = "Resources"
	// Selector: node selector or required affinity does not match.
	Selector Kind = "Selector"
	// Taints: a taint is not tolerated.
	Taints Kind = "Taints"
	// Ports: two pods of a node want the same host port.
	Ports Kind = "Ports"
	// PoolRequirements: an option is not what the NodePool allows.
	PoolRequirements Kind = "PoolRequirements"
	// Offering: an option is not sold, or not at that price.
	Offering Kind = "Offering"
	// Reserved: more nodes would come from a reservation than it has room for.
	Reserved Kind = "Reserved"
	// Limits: a NodePool's limits are exceeded.
	Limits Kind = "Limits"
	// OverHeadroom: the worst case costs more than a ceiling leaves.
	OverHeadroom Kind = "Headroom"
	// Refused: an option was denied by a review.
	Refused Kind = "Refused"
	// Excluded: an option was dropped by a rank policy.
	Excluded Kind = "Excluded"
	// MinValues: the options keep fewer values than the NodePool wants.
	MinValues Kind = "MinValues"
	// Spread: a topology spread constraint is exceeded.
	Spread Kind = "Spread"
	// Affinity: a pod is not near the pods it asks for.
	Affinity Kind = "Affinity"
	// AntiAffinity: a pod is near one that it shuns, or that shuns it.
	AntiAffinity Kind = "AntiAffinity"
)

// Violation is one way in which a plan is wrong.
type Violation struct {
	Kind Kind `json:"kind"`
	// Where is the planned node ("node 3 of pool default"), the existing node
	// or the pod concerned.
	Where   string `json:"where"`
	Message string `json:"message"`
}

// String is the violation in one line.
func (v Violation) String() string { return fmt.Sprintf("%s: %s: %s", v.Where, v.Kind, v.Message) }

// Constraints are what a plan must keep besides the snapshot's own.
type Constraints struct {
	// Pods index Snapshot.Pods: those that the plan was asked to place. Each
	// must be placed or be listed as unplaced, once.
	Pods     []int32
	Headroom []Headroom
	Denied   []Denied
	// Excluded says which offerings the rank policies dropped, by pool; nil
	// says of none.
	Excluded func(pool int32, o model.Option) bool
	// Skip are the kinds of violations that are not looked for.
	Skip []Kind
}

// Headroom bounds the sum of what new nodes cost with their dearest options,
// volumes and addresses included, for the pools marked; nil marks all.
type Headroom struct {
	Scope string
	Pools []bool
	Left  model.Price
}

// Denied forbids options; empty fields match anything.
type Denied struct {
	Pool         int32
	InstanceType string
	Zone         string
	CapacityType model.CapacityType
}

// Plan reports everything that is wrong with a plan; nothing means that it can
// be applied.
func Plan(s *model.Snapshot, plan *model.Plan, c Constraints) []Violation {
	v := verifier{s: s, plan: plan, c: c, moving: map[int32]bool{}, nodes: map[launch]*blueprint{}}
	for _, i := range c.Pods {
		v.moving[i] = true
	}
	v.accounting()
	v.existing()
	for i := range plan.Nodes {
		v.planned(i)
	}
	v.topology()
	v.headroom()
	v.limits()
	v.reserved()
	return slices.DeleteFunc(v.found, func(f Violation) bool { return slices.Contains(c.Skip, f.Kind) })
}

type verifier struct {
	s      *model.Snapshot
	plan   *model.Plan
	c      Constraints
	moving map[int32]bool
	nodes  map[launch]*blueprint
	byNode map[int32][]int32
	found  []Violation
}

func (v *verifier) report(kind Kind, where, format string, args ...any) {
	v.found = append(v.found, Violation{Kind: kind, Where: where, Message: fmt.Sprintf(format, args...)})
}

// accounting proves that every pod asked for has exactly one fate.
func (v *verifier) accounting() {
	seen := map[int32]int{}
	count := func(where string, pods []int32) {
		for _, i := range pods {
			if v.pod(i) == nil {
				v.report(BadReference, where, "pod %d does not exist", i)
				continue
			}
			if seen[i]++; seen[i] > 1 {
				v.report(Accounting, where, "pod %s appears more than once", v.pod(i).Key())
			}
			if !v.moving[i] {
				v.report(Accounting, where, "pod %s was not to be placed", v.pod(i).Key())
			}
		}
	}
	for i := range v.plan.Nodes {
		count(v.name(i), v.plan.Nodes[i].Pods)
	}
	for i := range v.plan.Existing {
		count(fmt.Sprintf("assignment %d", i), v.plan.Existing[i].Pods)
	}
	for i := range v.plan.Unplaced {
		count("unplaced", []int32{v.plan.Unplaced[i].Pod})
		if len(v.plan.Unplaced[i].Reasons) == 0 {
			v.report(Accounting, "unplaced", "pod %d has no reason", v.plan.Unplaced[i].Pod)
		}
	}
	for _, i := range v.c.Pods {
		if seen[i] == 0 && v.pod(i) != nil {
			v.report(Accounting, v.pod(i).Key(), "neither placed nor reported")
		}
	}
}

func (v *verifier) pod(i int32) *model.Pod {
	if i < 0 || int(i) >= len(v.s.Pods) || v.s.Pods[i].Spec < 0 || int(v.s.Pods[i].Spec) >= len(v.s.Specs) {
		return nil
	}
	return &v.s.Pods[i]
}

func (v *verifier) spec(i int32) *model.PodSpec { return &v.s.Specs[v.s.Pods[i].Spec] }

func (v *verifier) name(i int) string {
	if p := v.plan.Nodes[i].Pool; p >= 0 && int(p) < len(v.s.Pools) {
		return fmt.Sprintf("node %d of pool %s", i, v.s.Pools[p].Name)
	}
	return fmt.Sprintf("node %d", i)
}

// headroom proves that the worst case stays within every ceiling.
func (v *verifier) headroom() {
	for _, h := range v.c.Headroom {
		var sum model.Price
		launches := 0
		for i := range v.plan.Nodes {
			n := &v.plan.Nodes[i]
			if h.Pools != nil && (n.Pool < 0 || int(n.Pool) >= len(h.Pools) || !h.Pools[n.Pool]) {
				continue
			}
			dearest := model.Price(0)
			for _, o := range n.Options {
				if o.Price > dearest {
					dearest = o.Price
				}
			}
			sum += dearest + v.s.NodeCost(n.Pool)
			launches++
		}
		if launches > 0 && sum > h.Left {
			v.report(OverHeadroom, h.Scope, "%d launches cost up to %s $/h, %s is left", launches, sum, h.Left)
		}
	}
}

// limits proves that each pool stays within its limits, whichever option of
// every node comes true.
func (v *verifier) limits() {
	for p := range v.s.Pools {
		pool := &v.s.Pools[p]
		for name, most := range pool.Limits {
			sum, launches := pool.Usage[name], 0
			for i := range v.plan.Nodes {
				if int(v.plan.Nodes[i].Pool) == p {
					sum += v.largest(&v.plan.Nodes[i], name)
					launches++
				}
			}
			if launches > 0 && sum > most {
				v.report(Limits, "pool "+pool.Name, "%s would be up to %d, the limit is %d", name, sum, most)
			}
		}
	}
}

// reserved proves that no reservation is drawn on more often than it can bear,
// should every node be launched as planned.
func (v *verifier) reserved() {
	type source struct {
		catalog   int32
		typ, zone string
	}
	taken := map[source]int{}
	for i := range v.plan.Nodes {
		n := &v.plan.Nodes[i]
		if len(n.Options) == 0 || n.Options[0].CapacityType != model.Reserved {
			continue
		}
		o := &n.Options[0]
		t := v.instanceType(n.Pool, o.InstanceType)
		if t == nil {
			continue // reported with the node
		}
		key := source{v.s.Pools[n.Pool].Catalog, o.InstanceType, o.Zone}
		taken[key]++
		for j := range t.Offerings {
			f := &t.Offerings[j]
			if f.CapacityType == model.Reserved && f.Zone == o.Zone && f.Reservation != nil && taken[key] > f.Reservation.Free {
				v.report(Reserved, v.name(i), "%s in %s has room for %d", o.InstanceType, o.Zone, f.Reservation.Free)
			}
		}
	}
}

// largest is the most of a resource that any option of the node has.
func (v *verifier) largest(n *model.PlannedNode, name string) int64 {
	if name == "nodes" {
		return 1
	}
	most := int64(0)
	for _, o := range n.Options {
		if t := v.instanceType(n.Pool, o.InstanceType); t != nil && t.Capacity[name] > most {
			most = t.Capacity[name]
		}
	}
	return most
}
