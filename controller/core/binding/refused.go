package binding

import (
	"slices"

	"spokeshave.dev/controller/core/model"
)

// Refused returns those of the waiting pods that the scheduler will not bind to their
// nodes while all others stay where they are: a required spread constraint, pod affinity
// term or pod anti-affinity term forbids it. waiting indexes s.Pods: pods with a node, to
// which they are not bound yet. All other pods with a node count as bound there. The order
// of the result is that of waiting.
//
// Resources, ports, taints and node affinity are not considered. Where the snapshot leaves
// open what the scheduler will see, as of pods on nodes that are being deleted, the pod is
// not refused.
func Refused(s *model.Snapshot, waiting []int32) []int32 {
	r := newRules(s, waiting)
	if len(r.all) == 0 {
		return nil
	}
	waits := make([]bool, len(s.Pods))
	for _, i := range waiting {
		waits[i] = true
	}
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node >= 0 && !waits[i] {
			r.bind(p)
		}
	}
	left := slices.Clone(waiting)
	for before := len(left) + 1; len(left) < before; {
		before = len(left)
		left = slices.DeleteFunc(left, func(i int32) bool {
			ok := r.allow(&s.Pods[i])
			if ok {
				r.bind(&s.Pods[i])
			}
			return ok
		})
	}
	return left
}

// rules are the rules of the waiting pods' specs.
type rules struct {
	s   *model.Snapshot
	all []*rule
	// of has the rules that pods of a spec must keep, counting those that count them. Both
	// are by index of the spec.
	of, counting [][]*rule
}

func newRules(s *model.Snapshot, waiting []int32) *rules {
	r := &rules{s: s, of: make([][]*rule, len(s.Specs)), counting: make([][]*rule, len(s.Specs))}
	seen := make([]bool, len(s.Specs))
	var apart []int32 // specs that keep other pods away
	for i := range s.Specs {
		if len(s.Specs[i].PodAntiAffinity) > 0 {
			apart = append(apart, int32(i))
		}
	}
	for _, i := range waiting {
		if of := s.Pods[i].Spec; !seen[of] {
			seen[of] = true
			r.add(of, apart)
		}
	}
	for _, each := range r.all {
		for i := range s.Specs {
			if each.counts(int32(i), &s.Specs[i]) {
				r.counting[i] = append(r.counting[i], each)
			}
		}
	}
	return r
}

// add adds the rules of a spec: its own terms, and those of the specs in apart.
func (r *rules) add(of int32, apart []int32) {
	spec := &r.s.Specs[of]
	for k := range spec.Spread {
		if c := &spec.Spread[k]; !c.Soft {
			r.append(of, newSpreadRule(r.s, spec, c))
		}
	}
	for k := range spec.PodAntiAffinity {
		t := &spec.PodAntiAffinity[k]
		r.append(of, newRule(r.s, forbids, t.Key, func(_ int32, o *model.PodSpec) bool { return t.Selector.Matches(o.Namespace, o.Labels) }))
	}
	for k := range spec.PodAffinity {
		r.append(of, newRule(r.s, requires, spec.PodAffinity[k].Key, func(_ int32, o *model.PodSpec) bool { return isWanted(spec, o) }))
	}
	for _, other := range apart {
		for k := range r.s.Specs[other].PodAntiAffinity {
			if t := &r.s.Specs[other].PodAntiAffinity[k]; t.Selector.Matches(spec.Namespace, spec.Labels) {
				r.append(of, newRule(r.s, forbids, t.Key, func(i int32, _ *model.PodSpec) bool { return i == other }))
			}
		}
	}
}

// isWanted reports whether all affinity terms of the spec select pods of the other one.
func isWanted(spec, other *model.PodSpec) bool {
	return !slices.ContainsFunc(spec.PodAffinity, func(t model.PodTerm) bool { return !t.Selector.Matches(other.Namespace, other.Labels) })
}

func (r *rules) append(of int32, each *rule) {
	if each.counts(of, &r.s.Specs[of]) {
		each.self = 1
	}
	r.all = append(r.all, each)
	r.of[of] = append(r.of[of], each)
}

// allow reports whether the scheduler would bind the pod to its node now.
func (r *rules) allow(p *model.Pod) bool {
	return !slices.ContainsFunc(r.of[p.Spec], func(each *rule) bool { return !each.allows(p.Node) })
}

// bind notes that the pod is on its node.
func (r *rules) bind(p *model.Pod) {
	leaves := p.Ending || r.s.Nodes[p.Node].State == model.Deleting
	for _, each := range r.counting[p.Spec] {
		each.bind(p.Node, leaves)
	}
}
