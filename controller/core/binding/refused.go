package binding

import (
	"fmt"
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

// rules are the rules of the waiting pods' specs. Equal terms of different specs are one rule.
type rules struct {
	s *model.Snapshot
	// byKey numbers the domains of each node label.
	byKey  map[string]*domains
	byText map[string]*rule
	all    []*rule
	// of has the rules that pods of a spec must keep, counting those that count them. Both
	// are by index of the spec.
	of       [][]use
	counting [][]*rule
}

// use is a rule of a spec. self is 1 if the rule counts the spec's own pods, else 0.
type use struct {
	*rule
	self int
}

func newRules(s *model.Snapshot, waiting []int32) *rules {
	r := &rules{
		s: s, byKey: map[string]*domains{}, byText: map[string]*rule{},
		of: make([][]use, len(s.Specs)), counting: make([][]*rule, len(s.Specs)),
	}
	seen, apart := make([]bool, len(s.Specs)), excluding(s)
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

// exclusion is an anti-affinity term with the specs that have it.
type exclusion struct {
	text  string
	term  *model.PodTerm
	specs map[int32]bool
}

// excluding returns the anti-affinity terms of all specs, each once.
func excluding(s *model.Snapshot) []*exclusion {
	var out []*exclusion
	byText := map[string]*exclusion{}
	for i := range s.Specs {
		for k := range s.Specs[i].PodAntiAffinity {
			t := &s.Specs[i].PodAntiAffinity[k]
			text := fmt.Sprint(*t)
			e := byText[text]
			if e == nil {
				e = &exclusion{text: text, term: t, specs: map[int32]bool{}}
				byText[text] = e
				out = append(out, e)
			}
			e.specs[int32(i)] = true
		}
	}
	return out
}

// add adds the rules of a spec: its own terms, and those of apart that select its pods.
func (r *rules) add(of int32, apart []*exclusion) {
	spec := &r.s.Specs[of]
	for k := range spec.Spread {
		if c := &spec.Spread[k]; !c.Soft {
			r.use(of, spreadText(spec, c), func() *rule { return newSpreadRule(r.s, spec, c) })
		}
	}
	for k := range spec.PodAntiAffinity {
		t := &spec.PodAntiAffinity[k]
		r.use(of, "forbids "+fmt.Sprint(*t), func() *rule {
			return r.onLabel(forbids, t.Key, func(_ int32, o *model.PodSpec) bool { return t.Selector.Matches(o.Namespace, o.Labels) })
		})
	}
	for k := range spec.PodAffinity {
		key := spec.PodAffinity[k].Key
		r.use(of, fmt.Sprint("requires ", key, spec.PodAffinity), func() *rule {
			return r.onLabel(requires, key, func(_ int32, o *model.PodSpec) bool { return isWanted(spec, o) })
		})
	}
	for _, e := range apart {
		if e.term.Selector.Matches(spec.Namespace, spec.Labels) {
			r.use(of, "forbidden by "+e.text, func() *rule {
				return r.onLabel(forbids, e.term.Key, func(i int32, _ *model.PodSpec) bool { return e.specs[i] })
			})
		}
	}
}

// isWanted reports whether all affinity terms of the spec select pods of the other one.
func isWanted(spec, other *model.PodSpec) bool {
	return !slices.ContainsFunc(spec.PodAffinity, func(t model.PodTerm) bool { return !t.Selector.Matches(other.Namespace, other.Labels) })
}

// use adds the rule with a text to those of a spec; make makes it if it is new.
func (r *rules) use(of int32, text string, make func() *rule) {
	each := r.byText[text]
	if each == nil {
		each = make()
		r.byText[text] = each
		r.all = append(r.all, each)
	}
	u := use{rule: each}
	if each.counts(of, &r.s.Specs[of]) {
		u.self = 1
	}
	r.of[of] = append(r.of[of], u)
}

// onLabel returns a rule whose domains are the values of a node label.
func (r *rules) onLabel(kind ruleKind, key string, counts func(int32, *model.PodSpec) bool) *rule {
	d := r.byKey[key]
	if d == nil {
		d = newDomains(r.s, key, func(*model.Node) bool { return true })
		r.byKey[key] = d
	}
	return newRule(kind, d, counts)
}

// allow reports whether the scheduler would bind the pod to its node now.
func (r *rules) allow(p *model.Pod) bool {
	return !slices.ContainsFunc(r.of[p.Spec], func(u use) bool { return !u.allows(p.Node, u.self) })
}

// bind notes that the pod is on its node.
func (r *rules) bind(p *model.Pod) {
	leaves := p.Ending || r.s.Nodes[p.Node].State == model.Deleting
	for _, each := range r.counting[p.Spec] {
		each.bind(p.Node, leaves)
	}
}
