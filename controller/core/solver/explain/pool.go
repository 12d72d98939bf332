package explain

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// Pod is a pod without a place.
type Pod struct {
	Spec *model.PodSpec
	// Requests are its requests, and Resources the names of the amounts in it: amount
	// r is of resource Resources[r].
	Requests  vec.Vector
	Resources []string
}

// Pool is a NodePool and what a plan knows of it.
type Pool struct {
	Of *model.Pool
	// Blocked says why nothing may be launched from it; nil leaves it open.
	Blocked *model.Reason
	// Sells says that its NodeClass has a catalogue.
	Sells bool
	// Defines says whether the value of a label is the pool's own to set, and not the
	// instance type's or the offering's.
	Defines func(key string) bool
	// Variants are the ways to label its nodes; none where its requirements contradict
	// each other.
	Variants []Variant
}

// Variant is one way to label the nodes of a pool, and what may be launched so.
type Variant struct {
	Labels map[string]string
	// Offerings are all of the pool's catalogue, in any order that is always the same.
	Offerings iter.Seq[Offering]
	// Bound says which bound of the plan stops the pod, where an offering passes
	// everything else; cheapest is the cheapest of those that Price allows, nil for none.
	Bound func(cheapest Offering) model.Reason
}

// Offering is an offering of a pool's catalogue, as a node with a variant's labels.
type Offering interface {
	// Label is the node's value of a label, and whether it has one.
	Label(key string) (value string, ok bool)
	// InPool says whether the pool's requirements allow it.
	InPool() bool
	// Room is what DaemonSets leave to pods, and whether one of them holds a host port of
	// the pod.
	Room() (room vec.Vector, portTaken bool)
	// Available says that it is not sold out.
	Available() bool
	// Excluded says which rank policy drops it, Denied which review refused it; nil
	// for none.
	Excluded() *Refusal
	Denied() *Refusal
	// Price is its billed price in micro-dollars per hour; false where a reservation
	// that it draws on is used up.
	Price() (model.Price, bool)
}

// Refusal is a policy's no.
type Refusal struct {
	Policy string
	// Reason is what the policy says; "" when it says nothing.
	Reason string
}

// Why says of every pool why it cannot take one more pod, heavy pools first, then by
// name. It is never empty.
func Why(pod *Pod, pools []Pool) []model.Reason {
	if len(pools) == 0 {
		return []model.Reason{{Code: model.NoPools, Message: "there is no NodePool"}}
	}
	order := make([]*Pool, len(pools))
	for i := range pools {
		order[i] = &pools[i]
	}
	slices.SortStableFunc(order, func(a, b *Pool) int {
		return cmp.Or(cmp.Compare(b.Of.Weight, a.Of.Weight), cmp.Compare(a.Of.Name, b.Of.Name))
	})
	out := make([]model.Reason, len(order))
	for i, p := range order {
		out[i] = p.why(pod)
		out[i].Pool = p.Of.Name
	}
	return out
}

// why says what keeps the pool from launching a node for the pod.
func (p *Pool) why(pod *Pod) model.Reason {
	if p.Of.NotReady != "" {
		return model.Reason{Code: model.PoolNotReady, Message: p.Of.NotReady}
	}
	if p.Blocked != nil {
		return *p.Blocked
	}
	if !p.Of.Opens(pod.Spec.Tolerations) {
		return model.Reason{Code: model.PoolNotReady, Message: "the NodePool is static (spec.replicas): no node is launched from it for pods"}
	}
	if t := constraint.Untolerated(pod.Spec.Tolerations, p.Of.Taints); t != nil {
		return model.Reason{Code: model.TaintNotTolerated, Message: "taint " + taintText(t) + " is not tolerated"}
	}
	// Of the variants of a pool, the one whose offerings come furthest says why.
	best, furthest := model.Reason{}, -1
	for i := range p.Variants {
		f := filter{pod: pod, pool: p, variant: &p.Variants[i]}
		f.run()
		if f.passed() > furthest {
			best, furthest = f.reason(), f.passed()
		}
	}
	switch {
	case furthest < 0 && !p.Sells:
		return model.Reason{Code: model.PoolNotReady, Message: fmt.Sprintf("NodeClass %q offers no instance types", p.Of.NodeClass)}
	case furthest < 0:
		return model.Reason{Code: model.RequirementsConflict, Message: "the NodePool's requirements contradict each other"}
	}
	return best
}
