package binding

import (
	"fmt"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// ruleKind is what a rule says about the pods that it counts.
type ruleKind int

const (
	// spreads: the domains have about the same number of them.
	spreads ruleKind = iota
	// forbids: the domain has none.
	forbids
	// requires: the domain has one, or no domain has and the pod itself is counted.
	requires
)

// rule is one term of a pod's spec, with the numbers of bound pods that it counts.
type rule struct {
	kind   ruleKind
	counts func(spec int32, of *model.PodSpec) bool
	// maxSkew and minDomains are those of a spread constraint.
	maxSkew, minDomains int
	// domain is the domain of each node, -1 for a node that is in none.
	domain []int32
	// stay and leave are, by domain, how many pods are bound there. leave has those that
	// may be gone by the time the scheduler looks.
	stay, leave []int
	// exists says of each domain that the scheduler sees a node of it for certain.
	exists []bool
}

// domains are the values of a node label: of each node the number of its domain, -1 for
// none, and of each domain whether a node of it accepts pods.
type domains struct {
	of     []int32
	exists []bool
}

// newDomains numbers the values of a label on the nodes that considers accepts.
func newDomains(s *model.Snapshot, key string, considers func(*model.Node) bool) *domains {
	out := &domains{of: make([]int32, len(s.Nodes))}
	numbers := map[string]int32{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		value, ok := n.Labels[key]
		if !ok || !considers(n) {
			out.of[i] = -1
			continue
		}
		d, ok := numbers[value]
		if !ok {
			d = int32(len(numbers))
			numbers[value] = d
			out.exists = append(out.exists, false)
		}
		out.of[i] = d
		out.exists[d] = out.exists[d] || n.State == model.Initialized || n.State == model.Unmanaged
	}
	return out
}

func newRule(kind ruleKind, d *domains, counts func(int32, *model.PodSpec) bool) *rule {
	n := len(d.exists)
	return &rule{kind: kind, counts: counts, domain: d.of, exists: slices.Clone(d.exists), stay: make([]int, n), leave: make([]int, n)}
}

// newSpreadRule returns the rule of a spread constraint of a spec. It considers the nodes
// that have the keys of all constraints of the spec and that its policies on affinity and
// taints count (Pod Topology Spread Constraints, "Conventions").
func newSpreadRule(s *model.Snapshot, spec *model.PodSpec, c *model.Spread) *rule {
	placed := placedBy(spec)
	d := newDomains(s, c.Key, func(n *model.Node) bool {
		label := func(key string) (string, bool) {
			value, ok := n.Labels[key]
			return value, ok
		}
		return hasKeys(n, spec) && (!c.HonorTaints || spec.Untolerated(n.Taints) == nil) && (c.IgnoreAffinity || placed.Selects(label))
	})
	out := newRule(spreads, d, func(_ int32, o *model.PodSpec) bool { return c.Selector.Matches(o.Namespace, o.Labels) })
	out.maxSkew, out.minDomains = int(c.MaxSkew), int(c.MinDomains)
	return out
}

// placedBy returns the node selector and the affinity that the spread constraints of a spec
// honor: not where its volumes are.
func placedBy(spec *model.PodSpec) *model.PodSpec {
	out := &model.PodSpec{NodeSelector: spec.NodeSelector, Affinity: spec.Affinity}
	if spec.Pinned {
		out.Affinity = spec.OwnAffinity
	}
	return out
}

// spreadText is equal for constraints that count the same pods on the same nodes in the
// same way.
func spreadText(spec *model.PodSpec, c *model.Spread) string {
	var text strings.Builder
	fmt.Fprint(&text, "spread ", *c)
	for k := range spec.Spread {
		if !spec.Spread[k].Soft {
			fmt.Fprint(&text, " ", spec.Spread[k].Key)
		}
	}
	if !c.IgnoreAffinity {
		placed := placedBy(spec)
		fmt.Fprint(&text, placed.NodeSelector, placed.Affinity)
	}
	if c.HonorTaints {
		fmt.Fprint(&text, spec.Tolerations)
	}
	return text.String()
}

// hasKeys reports whether the node has the keys of all required spread constraints.
func hasKeys(n *model.Node, spec *model.PodSpec) bool {
	return !slices.ContainsFunc(spec.Spread, func(c model.Spread) bool {
		_, ok := n.Labels[c.Key]
		return !ok && !c.Soft
	})
}

// bind counts a pod on a node. leaves says that it may be gone soon.
func (r *rule) bind(node int32, leaves bool) {
	d := r.domain[node]
	switch {
	case d < 0:
	case leaves:
		r.leave[d]++
	default:
		r.stay[d]++
		r.exists[d] = true
	}
}

// allows reports whether the scheduler would bind one of the rule's pods to a node now. self
// is 1 if the rule counts the pod, else 0.
func (r *rule) allows(node int32, self int) bool {
	d := r.domain[node]
	switch r.kind {
	case spreads:
		// Without the label, or not yet known to have it: nothing can be said.
		return d < 0 || r.stay[d]+self-r.least() <= r.maxSkew
	case forbids:
		return d < 0 || r.stay[d] == 0
	case requires:
		return d < 0 || r.stay[d]+r.leave[d] > 0 || self > 0 && !r.anywhere()
	}
	return true
}

// least returns the smallest number of pods that a domain has: the global minimum of a
// spread constraint.
func (r *rule) least() int {
	out, domains := -1, 0
	for d := range r.exists {
		if !r.exists[d] {
			continue
		}
		domains++
		if n := r.stay[d] + r.leave[d]; out < 0 || n < out {
			out = n
		}
	}
	if domains < r.minDomains {
		return 0
	}
	return max(0, out)
}

// anywhere reports whether any domain has a pod that stays.
func (r *rule) anywhere() bool {
	return slices.ContainsFunc(r.stay, func(n int) bool { return n > 0 })
}
