package solver

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
	"strconv"

	"spokeshave.dev/controller/model"
)

// class is a set of pods that are equal to the scheduler.
type class struct {
	spec     *model.PodSpec
	req      vec
	priority int32
	ports    int32
	// ties are what topology asks of the pods, apart what they keep off their
	// node.
	ties  *ties
	apart int32
	// held are the domains that the pods are held to.
	held  []held
	seats []seat
	// offers is the number of the set of offers that constraints allow,
	// whatever their size.
	offers int32
	// pods are sorted by namespace and name.
	pods []int32
	// key orders and identifies the class.
	key string
	// reasons are set when the class cannot be placed at all by this version.
	reasons []model.Reason
}

// newDims numbers the resources that the pods ask for.
func (p *problem) newDims() {
	seen := map[string]bool{}
	var asked []string
	done := make([]bool, len(p.snap.Specs))
	for _, i := range p.in.Pods {
		s := p.snap.Pods[i].Spec
		if done[s] {
			continue
		}
		done[s] = true
		p.asked++
		for name, n := range p.snap.Specs[s].Requests {
			if n > 0 && !seen[name] {
				seen[name] = true
				asked = append(asked, name)
			}
		}
	}
	p.dims = newDims(asked)
}

// newClasses groups the pods. Specs are looked at once, then pods are only
// counted.
func (p *problem) newClasses() {
	bySpec := make([]int32, len(p.snap.Specs))
	ids := map[string]int32{}
	var buf []byte
	p.classes = make([]class, 0, p.asked)
	counts := make([]int32, 0, p.asked)
	for _, i := range p.in.Pods {
		s := p.snap.Pods[i].Spec
		if bySpec[s] == 0 {
			spec := &p.snap.Specs[s]
			tied := p.topo.of(p.snap, s)
			buf = tied.key(append(p.classKey(buf[:0], spec), 1))
			id, ok := ids[string(buf)]
			if !ok {
				id = int32(len(p.classes)) + 1
				key := string(buf)
				ids[key] = id
				p.classes = append(p.classes, p.newClass(spec, tied, key))
				counts = append(counts, 0)
			}
			bySpec[s] = id
		}
		counts[bySpec[s]-1]++
	}
	room := make([]int32, len(p.in.Pods))
	for i, n := range counts {
		p.classes[i].pods, room = room[:0:n], room[n:]
	}
	for _, i := range p.in.Pods {
		c := &p.classes[bySpec[p.snap.Pods[i].Spec]-1]
		c.pods = append(c.pods, i)
	}
	for i := range p.classes {
		p.sortPods(p.classes[i].pods)
	}
	slices.SortFunc(p.classes, compareClasses)
}

// compareClasses puts urgent classes first, then large ones.
func compareClasses(a, b class) int {
	if o := cmp.Compare(b.priority, a.priority); o != 0 {
		return o
	}
	if o := b.req.compare(&a.req); o != 0 {
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

// classKey identifies everything about a spec that placement depends on.
func (p *problem) classKey(b []byte, s *model.PodSpec) []byte {
	req := p.dims.requests(s.Requests)
	for r := range p.dims.n() {
		b = binary.BigEndian.AppendUint64(b, uint64(req[r]))
	}
	b = binary.BigEndian.AppendUint32(b, uint32(s.Priority))
	b = append(b, selectorKey(s)...)
	b = append(b, 0)
	b = append(b, tolerationKey(s.Tolerations)...)
	b = append(b, 0)
	if len(s.HostPorts) > 0 {
		b = append(b, portKey(s.HostPorts)...)
	}
	b = append(b, 0)
	unsupported := slices.Clone(s.Unsupported)
	if len(p.dims.beyond) > 0 {
		unsupported = append(unsupported, p.beyond(s)...)
	}
	for _, u := range unsupported {
		b = append(append(b, u...), 0)
	}
	return b
}

// beyond names the resources of the spec that found no number.
func (p *problem) beyond(s *model.PodSpec) []string {
	var out []string
	for name := range s.Requests {
		if p.dims.beyond[name] {
			out = append(out, "resource "+name)
		}
	}
	sort.Strings(out)
	return out
}

func (p *problem) newClass(s *model.PodSpec, tied *ties, key string) class {
	ports := p.ports.id(s.HostPorts)
	return class{
		spec: s, key: key, priority: s.Priority, req: p.dims.requests(s.Requests), ports: ports, ties: tied, apart: noPorts,
		offers: p.choiceOf(s, ports), reasons: p.unsupported(s),
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

// choiceOf numbers the set of offers that selector, affinity, tolerations and
// the host ports of DaemonSets allow.
func (p *problem) choiceOf(s *model.PodSpec, ports int32) int32 {
	key := selectorKey(s) + "\x00" + tolerationKey(s.Tolerations) + "\x00" + strconv.Itoa(int(ports))
	if id, ok := p.choiceIDs[key]; ok {
		return id
	}
	set := p.selected(s).clone()
	for l, ok := range p.tolerated(s.Tolerations) {
		if !ok {
			set.unsetRange(p.lanes[l].from, p.lanes[l].to)
		}
	}
	if ports >= 0 {
		for o := set.next(0); o >= 0; o = set.next(o + 1) {
			if p.ports.blocked(ports, p.bins[p.offers[o].bin].ports) {
				set.unset(o)
			}
		}
	}
	id := p.choices.id(set)
	p.choiceIDs[key] = id
	return id
}

// setTable numbers sets of offers by their contents.
type setTable struct {
	sets []bitset
	ids  map[string]int32
}

func (t *setTable) id(set bitset) int32 {
	key := set.key()
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
