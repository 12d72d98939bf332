package colocate

import (
	"encoding/binary"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/problem"
)

// bundle is a number of equal groups of pods. The pods of a group must share a node:
// pods with affinity to others on their own node, together with those others. A
// group is packed as if it were one pod.
type bundle struct {
	// members are the pods of one group. Those that others need come first.
	members []problem.ClassCount
	count   int32
}

// with returns the bundle with n more pods of a class in every group.
func (b bundle) with(c, n int32) bundle {
	b.members = slices.Clone(b.members)
	for i := range b.members {
		if b.members[i].Class == c {
			b.members[i].N += n
			return b
		}
	}
	b.members = append(b.members, problem.ClassCount{Class: c, N: n})
	return b
}

// pods returns the number of pods of a group.
func (b *bundle) pods() int32 {
	n := int32(0)
	for _, t := range b.members {
		n += t.N
	}
	return n
}

// bundleMultiplicity returns how often a topology group counts one group of the
// bundle.
func (f *colocator) bundleMultiplicity(b *bundle, group int32) int32 {
	n := int32(0)
	for _, t := range b.members {
		if terms := f.classes[t.Class].Terms; terms != nil {
			n += t.N * terms.Multiplicity(group)
		}
	}
	return n
}

// bundleClass makes a class of a bundle, without its pods and its key. It returns false when no
// node could hold a group, whatever its size.
func (f *colocator) bundleClass(b *bundle) (problem.Class, bool) {
	first := &f.classes[b.members[0].Class]
	spec := *first.Spec
	spec.Requests = model.Resources{}
	out := problem.Class{Spec: &spec, Priority: first.Priority, Ports: constraint.NoPorts, Conflict: constraint.NoPorts, Terms: &constraint.Terms{}, BundleSize: b.pods()}
	offers := f.p.OffersOf(first).Clone()
	var ports []model.HostPort
	for _, t := range b.members {
		cl := &f.classes[t.Class]
		out.Requests.Add(&cl.Requests, int64(t.N))
		out.Priority = max(out.Priority, cl.Priority)
		offers.And(f.p.OffersOf(cl))
		for name, n := range cl.Spec.Requests {
			spec.Requests[name] += n * int64(t.N)
		}
		out.BundleSpecs = append(out.BundleSpecs, cl.Spec)
		if cl.Ports < 0 {
			continue
		}
		if t.N > 1 || f.p.Ports.Conflicts(cl.Ports, f.p.Ports.ID(ports)) {
			return out, false
		}
		ports = append(ports, cl.Spec.HostPorts...)
	}
	spec.HostPorts = ports
	keys, ok := f.mergeTerms(b, out.Terms)
	for _, key := range keys {
		has := model.Requirement{Key: key, Operator: model.Exists}
		offers.And(f.p.Supply.Requirement(&has))
		out.BundleSpecs = append(out.BundleSpecs, &model.PodSpec{Affinity: []model.Term{{has}}, Tolerations: []model.Toleration{{Exists: true}}})
	}
	out.Ports, out.Choice = f.p.Ports.ID(ports), f.p.Choices.ID(offers)
	return out, ok
}

// mergeTerms joins the topology terms of a group's pods. An affinity that the group
// itself satisfies is dropped; only the label of its key is still required of the
// node, and keys lists these labels. ok is false when the pods exclude each other.
func (f *colocator) mergeTerms(b *bundle, out *constraint.Terms) (keys []string, ok bool) {
	for _, t := range b.members {
		own := f.classes[t.Class].Terms
		if own == nil {
			continue
		}
		for range t.N {
			out.DomainGroups, out.HostGroups = append(out.DomainGroups, own.DomainGroups...), append(out.HostGroups, own.HostGroups...)
		}
		for _, r := range own.DomainRules {
			if r.Kind != constraint.Affinity || !f.affinityMetInBundle(b, t.Class, r) {
				out.DomainRules = append(out.DomainRules, r)
			} else if key := f.p.Topology.All[r.Group].Key; !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
		for _, r := range own.HostRules {
			if r.Kind != constraint.Affinity || f.bundleMultiplicity(b, r.Group) == 0 {
				out.HostRules = append(out.HostRules, r)
			}
		}
	}
	return keys, out.Normalize()
}

// affinityMetInBundle reports whether a group contains a pod of another class that
// satisfies the affinity rule r and does not have that rule itself.
func (f *colocator) affinityMetInBundle(b *bundle, c int32, r constraint.Rule) bool {
	for _, t := range b.members {
		other := f.classes[t.Class].Terms
		if t.Class != c && other != nil && other.Multiplicity(r.Group) > 0 && !slices.Contains(other.DomainRules, r) {
			return true
		}
	}
	return false
}

// bundleKey returns a class key. Like other keys it begins with requests and
// priority.
func (f *colocator) bundleKey(b *bundle, cl *problem.Class) string {
	var key []byte
	for r := range f.p.Supply.Dims.N() {
		key = binary.BigEndian.AppendUint64(key, uint64(cl.Requests[r]))
	}
	key = binary.BigEndian.AppendUint32(key, uint32(cl.Priority))
	for _, t := range b.members {
		key = binary.BigEndian.AppendUint32(key, uint32(t.N))
		key = append(append(key, f.classes[t.Class].Key...), '&')
	}
	return string(key)
}
