package solver

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// class is a set of pods that the scheduler treats alike.
type class struct {
	spec     *model.PodSpec
	req      vec.Vector
	priority int32
	ports    int32
	// terms are the pods' topology terms. conflict numbers what they exclude from
	// their node.
	terms    *constraint.Terms
	conflict int32
	// offers is the number of the set of offers that the constraints allow, whatever
	// their size.
	offers int32
	// pods are sorted by namespace and name. In a bundle's class they come group
	// after group; bundleSize is the number of pods of a group, 0 for ordinary
	// classes, and otherSpecs are the specs of the group's other pods.
	pods       []int32
	bundleSize int32
	otherSpecs []*model.PodSpec
	// key identifies the class and decides the order of equal classes.
	key string
	// reasons are set when the class cannot be placed in this plan.
	reasons []model.Reason
	// noBundleReason says why pods with affinity on their own node are in no bundle.
	noBundleReason string
}

// n returns how many pods, or groups of a bundle, are to be placed.
func (c *class) n() int32 { return int32(len(c.pods)) / max(1, c.bundleSize) }

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

// newClasses groups the pods into classes. specs is the number of their specs, each
// of which is examined once. Until openClasses, the offers field of a class holds
// the number of its node needs.
func (p *problem) newClasses(needs *nodeNeeds, specs int) {
	bySpec := make([]int32, len(p.snap.Specs))
	ids := make(map[string]int32, specs)
	var buf []byte
	found := make([]class, 0, specs)
	counts := make([]int32, 0, specs)
	for _, i := range p.in.Pods {
		s := p.snap.Pods[i].Spec
		if bySpec[s] == 0 {
			cl := p.newClass(s)
			buf = cl.terms.AppendKey(append(p.classKey(buf[:0], &cl, needs), 1))
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
	room := make([]int32, len(p.in.Pods))
	for i, n := range counts {
		found[i].pods, room = room[:0:n], room[n:]
	}
	for _, i := range p.in.Pods {
		c := &found[bySpec[p.snap.Pods[i].Spec]-1]
		c.pods = append(c.pods, i)
	}
	for i := range found {
		p.sortPods(found[i].pods)
	}
	p.classes = sortClasses(found)
}

// sortClasses returns the list in the order of compareClasses.
func sortClasses(list []class) []class { return pick(list, classOrder(list)) }

// classOrder returns the indexes of the classes in the order of compareClasses.
func classOrder(list []class) []int32 {
	return vec.Ordered(len(list), func(a, b int32) int { return compareClasses(&list[a], &list[b]) })
}

// pick returns the elements of a list with the given indexes.
func pick[T any](list []T, order []int32) []T {
	out := make([]T, len(order))
	for i, at := range order {
		out[i] = list[at]
	}
	return out
}

// compareClasses orders classes by priority, highest first, then by size, largest
// first.
func compareClasses(a, b *class) int {
	if o := cmp.Compare(b.priority, a.priority); o != 0 {
		return o
	}
	if o := b.req.Compare(&a.req); o != 0 {
		return o
	}
	return cmp.Compare(a.key, b.key)
}

func (p *problem) sortPods(pods []int32) {
	compare := func(a, b int32) int {
		x, y := &p.snap.Pods[a], &p.snap.Pods[b]
		if o := cmp.Compare(x.Namespace, y.Namespace); o != 0 {
			return o
		}
		return cmp.Compare(x.Name, y.Name)
	}
	if !slices.IsSortedFunc(pods, compare) {
		slices.SortFunc(pods, compare)
	}
}

// classKey appends everything in a spec that placement depends on, except its
// topology constraints. It sets the number of the class's node needs.
func (p *problem) classKey(b []byte, cl *class, needs *nodeNeeds) []byte {
	s := cl.spec
	for r := range p.supply.Dims.N() {
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
	cl.offers = needs.id(b[from:], s)
	unsupported := slices.Clone(s.Unsupported)
	if len(p.supply.Dims.Overflow) > 0 {
		unsupported = append(unsupported, p.beyond(s)...)
	}
	for _, u := range unsupported {
		b = append(append(b, u...), 0)
	}
	return b
}

// beyond names the resources of the spec that have no vector index.
func (p *problem) beyond(s *model.PodSpec) []string {
	var out []string
	for name := range s.Requests {
		if p.supply.Dims.Overflow[name] {
			out = append(out, "resource "+name)
		}
	}
	sort.Strings(out)
	return out
}

// newClass returns the class of a spec, without its key and its pods.
func (p *problem) newClass(spec int32) class {
	s := &p.snap.Specs[spec]
	return class{
		spec: s, priority: s.Priority, req: p.supply.Dims.Requests(s.Requests), terms: p.topology.Of(spec),
		ports: constraint.NoPorts, conflict: constraint.NoPorts,
	}
}

// openClasses sets the offers and the host ports of the classes.
func (p *problem) openClasses(needs *nodeNeeds) {
	ports, choices := make([]int32, len(needs.specs)), make([]int32, len(needs.specs))
	for i, s := range needs.specs {
		ports[i] = p.ports.ID(s.HostPorts)
		choices[i] = p.choiceOf(s, ports[i])
	}
	for i := range p.classes {
		cl := &p.classes[i]
		cl.ports, cl.offers = ports[cl.offers], choices[cl.offers]
		cl.reasons = p.unsupported(cl.spec)
	}
}

func (p *problem) unsupported(s *model.PodSpec) []model.Reason {
	var out []model.Reason
	for _, u := range s.Unsupported {
		out = append(out, model.Reason{Code: model.Unsupported, Message: "required constraint not supported yet: " + u})
	}
	for _, u := range p.beyond(s) {
		out = append(out, model.Reason{
			Code:    model.Unsupported,
			Message: "more different resources are asked for at once than one solve packs; left out: " + u,
		})
	}
	return out
}

// choiceOf returns the number of the set of offers that selector, affinity,
// tolerations and the host ports of DaemonSets allow.
func (p *problem) choiceOf(s *model.PodSpec, ports int32) int32 {
	set := p.supply.Selected(s).Clone()
	for l, ok := range p.supply.Tolerated(s.Tolerations) {
		if !ok {
			set.UnsetRange(p.supply.Templates[l].From, p.supply.Templates[l].To)
		}
	}
	if ports >= 0 {
		for o := set.Next(0); o >= 0; o = set.Next(o + 1) {
			if p.ports.ConflictsWithAny(ports, p.supply.Shapes[p.supply.Offers[o].Shape].Ports) {
				set.Unset(o)
			}
		}
	}
	return p.choices.id(set)
}

// setTable numbers sets of offers by their contents.
type setTable struct {
	sets []vec.Bits
	ids  map[string]int32
}

func (t *setTable) id(set vec.Bits) int32 {
	key := set.Key()
	id, ok := t.ids[key]
	if !ok {
		if t.ids == nil {
			t.ids = map[string]int32{}
		}
		id = int32(len(t.sets))
		t.ids[key] = id
		t.sets = append(t.sets, set)
	}
	return id
}
