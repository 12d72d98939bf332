package solver

import (
	"encoding/binary"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// bundle is a number of equal groups of pods, of which each has to share a node:
// pods that want others on their own node, with those others. A group is packed
// as if it were one pod.
type bundle struct {
	// takes are the pods of one group, those that are wanted first.
	takes []take
	n     int32
}

// with is the bundle with n more pods of a class in every group.
func (b bundle) with(c, n int32) bundle {
	b.takes = slices.Clone(b.takes)
	for i := range b.takes {
		if b.takes[i].class == c {
			b.takes[i].n += n
			return b
		}
	}
	b.takes = append(b.takes, take{c, n})
	return b
}

// pods is how many pods a group has.
func (b *bundle) pods() int32 {
	n := int32(0)
	for _, t := range b.takes {
		n += t.n
	}
	return n
}

// counts is how often a census counts a group.
func (p *problem) counts(b *bundle, census int32) int32 {
	n := int32(0)
	for _, t := range b.takes {
		if ties := p.classes[t.class].ties; ties != nil {
			n += t.n * ties.times(census)
		}
	}
	return n
}

// compose makes a class of a bundle, without its pods; false where no node
// could hold a group, whatever its size.
func (p *problem) compose(b *bundle) (class, bool) {
	first := &p.classes[b.takes[0].class]
	spec := *first.spec
	spec.Requests = model.Resources{}
	out := class{spec: &spec, priority: first.priority, ports: noPorts, apart: noPorts, ties: &ties{}, size: b.pods()}
	offers := p.choices.sets[first.offers].clone()
	var ports []model.HostPort
	for at, t := range b.takes {
		cl := &p.classes[t.class]
		out.req.add(&cl.req, int64(t.n))
		out.priority = max(out.priority, cl.priority)
		offers.and(p.choices.sets[cl.offers])
		for name, n := range cl.spec.Requests {
			spec.Requests[name] += n * int64(t.n)
		}
		if at > 0 {
			out.also = append(out.also, cl.spec)
		}
		if cl.ports < 0 {
			continue
		}
		if t.n > 1 || p.ports.conflicts(cl.ports, p.ports.id(ports)) {
			return out, false
		}
		ports = append(ports, cl.spec.HostPorts...)
	}
	spec.HostPorts = ports
	keys, ok := p.bind(b, out.ties)
	for _, key := range keys {
		has := model.Requirement{Key: key, Operator: model.Exists}
		offers.and(p.requirement(&has))
		out.also = append(out.also, &model.PodSpec{Affinity: []model.Term{{has}}, Tolerations: []model.Toleration{{Exists: true}}})
	}
	if out.ports, out.offers = p.ports.id(ports), p.choices.id(offers); !ok {
		return out, false
	}
	out.key = p.bundleKey(b, &out)
	return out, true
}

// bind joins the ties of a group's pods: what they want near and have in the
// group is not asked of others, only that the node has the labels of these keys.
// ok is false where they keep each other off.
func (p *problem) bind(b *bundle, out *ties) (keys []string, ok bool) {
	for _, t := range b.takes {
		own := p.classes[t.class].ties
		if own == nil {
			continue
		}
		for range t.n {
			out.counted, out.localCounted = append(out.counted, own.counted...), append(out.localCounted, own.localCounted...)
		}
		for _, r := range own.own {
			if r.kind != near || !p.escorted(b, t.class, r) {
				out.own = append(out.own, r)
			} else if key := p.topo.censuses[r.census].key; !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
		for _, r := range own.local {
			if r.kind != near || p.counts(b, r.census) == 0 {
				out.local = append(out.local, r)
			}
		}
	}
	return keys, out.settle()
}

// settle sorts what was joined, and says whether the pods of a group may share
// a place with each other.
func (out *ties) settle() bool {
	slices.Sort(out.counted)
	slices.Sort(out.localCounted)
	byNumbers := func(a, b rule) int { return slices.Compare(a.numbers(), b.numbers()) }
	for _, rules := range []*[]rule{&out.own, &out.local} {
		slices.SortFunc(*rules, byNumbers)
		*rules = slices.Compact(*rules)
	}
	crowded := func(r rule) bool { return (r.kind == apart || r.kind == spreads) && out.times(r.census) > r.max }
	return !slices.ContainsFunc(out.own, crowded) && !slices.ContainsFunc(out.local, crowded)
}

// escorted says whether a group has somebody whom the class wants near and who
// does not want the same.
func (p *problem) escorted(b *bundle, c int32, r rule) bool {
	for _, t := range b.takes {
		other := p.classes[t.class].ties
		if t.class != c && other != nil && other.times(r.census) > 0 && !slices.Contains(other.own, r) {
			return true
		}
	}
	return false
}

// bundleKey begins as the keys of other classes do: requests and priority.
func (p *problem) bundleKey(b *bundle, cl *class) string {
	var key []byte
	for r := range p.dims.n() {
		key = binary.BigEndian.AppendUint64(key, uint64(cl.req[r]))
	}
	key = binary.BigEndian.AppendUint32(key, uint32(cl.priority))
	for _, t := range b.takes {
		key = binary.BigEndian.AppendUint32(key, uint32(t.n))
		key = append(append(key, p.classes[t.class].key...), '&')
	}
	return string(key)
}
