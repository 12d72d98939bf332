package problem

import (
	"cmp"
	"encoding/binary"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
)

// classifier groups pods into classes.
type classifier struct {
	p     *Problem
	needs nodeNeeds
}

// nodeNeeds numbers the different requirements of specs on their nodes besides
// resources: node selector and affinity, tolerations and host ports.
type nodeNeeds struct {
	specs []*model.PodSpec
	ids   map[string]int32
}

// id returns the number of a spec's requirements, which text identifies.
func (n *nodeNeeds) id(text []byte, s *model.PodSpec) int32 {
	id, ok := n.ids[string(text)]
	if !ok {
		id = int32(len(n.specs))
		n.ids[string(text)] = id
		n.specs = append(n.specs, s)
	}
	return id
}

// classes groups the pods into classes. specs is the number of their specs, each of
// which is examined once. Until open, the offers field of a class holds the number
// of its node needs.
func (f *classifier) classes(specs int) []Class {
	bySpec := make([]int32, len(f.p.Snapshot.Specs))
	ids := make(map[string]int32, specs)
	var buf []byte
	found := make([]Class, 0, specs)
	counts := make([]int32, 0, specs)
	for _, i := range f.p.Pods {
		s := f.p.Snapshot.Pods[i].Spec
		if bySpec[s] == 0 {
			cl := f.newClass(s)
			buf = cl.Terms.AppendKey(append(f.key(buf[:0], &cl), 1))
			id, ok := ids[string(buf)]
			if !ok {
				id = int32(len(found)) + 1
				cl.Key = string(buf)
				ids[cl.Key] = id
				found = append(found, cl)
				counts = append(counts, 0)
			}
			bySpec[s] = id
		}
		counts[bySpec[s]-1]++
	}
	room := make([]int32, len(f.p.Pods))
	for i, n := range counts {
		found[i].Pods, room = room[:0:n], room[n:]
	}
	for _, i := range f.p.Pods {
		c := &found[bySpec[f.p.Snapshot.Pods[i].Spec]-1]
		c.Pods = append(c.Pods, i)
	}
	for i := range found {
		f.sortPods(found[i].Pods)
	}
	return SortClasses(found)
}

// sortPods orders the pods of a class: those that are announced last, then by namespace and
// name. The last ones are left out where not all can be placed.
func (f *classifier) sortPods(pods []int32) {
	compare := func(a, b int32) int {
		x, y := &f.p.Snapshot.Pods[a], &f.p.Snapshot.Pods[b]
		if x.Exists() != y.Exists() {
			if x.Exists() {
				return -1
			}
			return 1
		}
		if o := cmp.Compare(x.Namespace, y.Namespace); o != 0 {
			return o
		}
		return cmp.Compare(x.Name, y.Name)
	}
	if !slices.IsSortedFunc(pods, compare) {
		slices.SortFunc(pods, compare)
	}
}

// key appends everything in a spec that placement depends on, except its
// topology constraints. It sets the number of the class's node needs.
func (f *classifier) key(b []byte, cl *Class) []byte {
	s := cl.Spec
	for r := range f.p.Supply.Dims.N() {
		b = binary.BigEndian.AppendUint64(b, uint64(cl.Requests[r]))
	}
	b = binary.BigEndian.AppendUint32(b, uint32(s.Priority))
	from := len(b)
	b = append(b, constraint.SelectorText(s)...)
	b = append(b, 0)
	b = append(b, constraint.TolerationText(s.Tolerations)...)
	b = append(b, 0)
	if len(s.HostPorts) > 0 {
		b = append(b, constraint.PortText(s.HostPorts)...)
	}
	b = append(b, 0)
	if supply.DeniedAlone(f.p.Supply, s.Namespace) {
		b = append(append(b, s.Namespace...), 0)
	}
	for _, name := range f.p.Supply.Dims.Rare {
		b = binary.BigEndian.AppendUint64(b, uint64(s.Requests[name]))
	}
	cl.Choice = f.needs.id(b[from:], s)
	for _, u := range s.Unsupported {
		b = append(append(b, u...), 0)
	}
	return b
}

// newClass returns the class of a spec, without its key and its pods.
func (f *classifier) newClass(spec int32) Class {
	s := &f.p.Snapshot.Specs[spec]
	return Class{
		Spec: s, Priority: s.Priority, Requests: f.p.Supply.Dims.Requests(s.Requests), Terms: f.p.Topology.Of(spec),
		Ports: constraint.NoPorts, Conflict: constraint.NoPorts,
	}
}

// open sets the offers and the host ports of the classes.
func (f *classifier) open() {
	ports, choices := make([]int32, len(f.needs.specs)), make([]int32, len(f.needs.specs))
	for i, s := range f.needs.specs {
		ports[i] = f.p.Ports.ID(s.HostPorts)
		choices[i] = f.choiceOf(s, ports[i])
	}
	for i := range f.p.Classes {
		cl := &f.p.Classes[i]
		cl.Ports, cl.Choice = ports[cl.Choice], choices[cl.Choice]
		cl.Reasons = f.unsupported(cl.Spec)
	}
}

func (f *classifier) unsupported(s *model.PodSpec) []model.Reason {
	var out []model.Reason
	for _, u := range s.Unsupported {
		out = append(out, model.Reason{Code: model.Unsupported, Message: "required constraint not supported yet: " + u})
	}
	return out
}

// choiceOf returns the number of the set of offers that selector, affinity,
// tolerations, rare resources, the host ports of DaemonSets and the refusals for the
// namespace allow.
func (f *classifier) choiceOf(s *model.PodSpec, ports int32) int32 {
	set := f.p.Supply.Selected(s).Clone()
	for l, ok := range f.p.Supply.Tolerated(s.Tolerations) {
		if !ok {
			set.UnsetRange(f.p.Supply.Templates[l].From, f.p.Supply.Templates[l].To)
		}
	}
	if supply.DeniedAlone(f.p.Supply, s.Namespace) {
		f.withoutDenied(set, s.Namespace)
	}
	if f.p.Supply.Dims.AsksRare(s.Requests) {
		for o := set.Next(0); o >= 0; o = set.Next(o + 1) {
			if !supply.FitsRare(f.p.Supply, o, s.Requests) {
				set.Unset(o)
			}
		}
	}
	if ports >= 0 {
		for o := set.Next(0); o >= 0; o = set.Next(o + 1) {
			if f.p.Ports.ConflictsWithAny(ports, f.p.Supply.Shapes[f.p.Supply.Offers[o].Shape].Ports) {
				set.Unset(o)
			}
		}
	}
	return f.p.Choices.ID(set)
}

// withoutDenied removes the offers that a review refused to pods of the namespace.
func (f *classifier) withoutDenied(set vec.Bits, namespace string) {
	for o := set.Next(0); o >= 0; o = set.Next(o + 1) {
		offer, t := &f.p.Supply.Offers[o], f.p.Supply.OfferType(o)
		if f.p.Supply.Denial(namespace, f.p.Supply.Templates[offer.Template].Pool, t, &t.Offerings[offer.Offering]) != nil {
			set.Unset(o)
		}
	}
}
