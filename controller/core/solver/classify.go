package solver

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

// classifier groups pods into classes.
type classifier struct {
	p     *problem
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
func (f *classifier) classes(specs int) []class {
	bySpec := make([]int32, len(f.p.snap.Specs))
	ids := make(map[string]int32, specs)
	var buf []byte
	found := make([]class, 0, specs)
	counts := make([]int32, 0, specs)
	for _, i := range f.p.pods {
		s := f.p.snap.Pods[i].Spec
		if bySpec[s] == 0 {
			cl := f.newClass(s)
			buf = cl.terms.AppendKey(append(f.key(buf[:0], &cl), 1))
			id, ok := ids[string(buf)]
			if !ok {
				id = int32(len(found)) + 1
				cl.key = string(buf)
				ids[cl.key] = id
				found = append(found, cl)
				counts = append(counts, 0)
			}
			bySpec[s] = id
		}
		counts[bySpec[s]-1]++
	}
	room := make([]int32, len(f.p.pods))
	for i, n := range counts {
		found[i].pods, room = room[:0:n], room[n:]
	}
	for _, i := range f.p.pods {
		c := &found[bySpec[f.p.snap.Pods[i].Spec]-1]
		c.pods = append(c.pods, i)
	}
	for i := range found {
		f.sortPods(found[i].pods)
	}
	return sortClasses(found)
}

func (f *classifier) sortPods(pods []int32) {
	compare := func(a, b int32) int {
		x, y := &f.p.snap.Pods[a], &f.p.snap.Pods[b]
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
func (f *classifier) key(b []byte, cl *class) []byte {
	s := cl.spec
	for r := range f.p.supply.Dims.N() {
		b = binary.BigEndian.AppendUint64(b, uint64(cl.req[r]))
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
	cl.offers = f.needs.id(b[from:], s)
	unsupported := slices.Clone(s.Unsupported)
	if len(f.p.supply.Dims.Overflow) > 0 {
		unsupported = append(unsupported, f.beyond(s)...)
	}
	for _, u := range unsupported {
		b = append(append(b, u...), 0)
	}
	return b
}

// beyond names the resources of the spec that have no vector index.
func (f *classifier) beyond(s *model.PodSpec) []string {
	var out []string
	for name := range s.Requests {
		if f.p.supply.Dims.Overflow[name] {
			out = append(out, "resource "+name)
		}
	}
	sort.Strings(out)
	return out
}

// newClass returns the class of a spec, without its key and its pods.
func (f *classifier) newClass(spec int32) class {
	s := &f.p.snap.Specs[spec]
	return class{
		spec: s, priority: s.Priority, req: f.p.supply.Dims.Requests(s.Requests), terms: f.p.topology.Of(spec),
		ports: constraint.NoPorts, conflict: constraint.NoPorts,
	}
}

// open sets the offers and the host ports of the classes.
func (f *classifier) open() {
	ports, choices := make([]int32, len(f.needs.specs)), make([]int32, len(f.needs.specs))
	for i, s := range f.needs.specs {
		ports[i] = f.p.ports.ID(s.HostPorts)
		choices[i] = f.choiceOf(s, ports[i])
	}
	for i := range f.p.classes {
		cl := &f.p.classes[i]
		cl.ports, cl.offers = ports[cl.offers], choices[cl.offers]
		cl.reasons = f.unsupported(cl.spec)
	}
}

func (f *classifier) unsupported(s *model.PodSpec) []model.Reason {
	var out []model.Reason
	for _, u := range s.Unsupported {
		out = append(out, model.Reason{Code: model.Unsupported, Message: "required constraint not supported yet: " + u})
	}
	for _, u := range f.beyond(s) {
		out = append(out, model.Reason{
			Code:    model.Unsupported,
			Message: "more different resources are asked for at once than one solve packs; left out: " + u,
		})
	}
	return out
}

// choiceOf returns the number of the set of offers that selector, affinity,
// tolerations and the host ports of DaemonSets allow.
func (f *classifier) choiceOf(s *model.PodSpec, ports int32) int32 {
	set := f.p.supply.Selected(s).Clone()
	for l, ok := range f.p.supply.Tolerated(s.Tolerations) {
		if !ok {
			set.UnsetRange(f.p.supply.Templates[l].From, f.p.supply.Templates[l].To)
		}
	}
	if ports >= 0 {
		for o := set.Next(0); o >= 0; o = set.Next(o + 1) {
			if f.p.ports.ConflictsWithAny(ports, f.p.supply.Shapes[f.p.supply.Offers[o].Shape].Ports) {
				set.Unset(o)
			}
		}
	}
	return f.p.choices.ID(set)
}
