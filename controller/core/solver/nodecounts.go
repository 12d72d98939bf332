package solver

import (
	"math"
	"slices"
)

// nodeCounts is who is on a node, as far as the rules of single nodes care: how
// many pods each local topology group counts there, and how many it may.
type nodeCounts struct {
	counts []nodeCount
}

type nodeCount struct {
	group, count, limit int32
}

// find finds the count of a topology group, nil when the node has none yet.
func (y *nodeCounts) find(group int32) *nodeCount {
	for i := range y.counts {
		if y.counts[i].group == group {
			return &y.counts[i]
		}
	}
	return nil
}

func (y *nodeCounts) findOrAdd(group int32) *nodeCount {
	if t := y.find(group); t != nil {
		return t
	}
	y.counts = append(y.counts, nodeCount{group: group, limit: math.MaxInt32})
	return &y.counts[len(y.counts)-1]
}

// allows is how many, at most n, of equal pods may join the node.
func (y *nodeCounts) allows(t *topologyTerms, n int32) int32 {
	if t == nil {
		return n
	}
	for at, c := range t.hostGroups {
		if at > 0 && c == t.hostGroups[at-1] {
			continue
		}
		if s := y.find(c); s != nil {
			n = min(n, (s.limit-s.count)/leadingRepeats(t.hostGroups[at:]))
		}
	}
	for i := range t.hostRules {
		r := &t.hostRules[i]
		there := int32(0)
		if s := y.find(r.group); s != nil {
			there = s.count
		}
		switch {
		case r.kind == affinity:
			if there == 0 {
				return 0
			}
		case t.multiplicity(r.group) > 0:
			n = min(n, (r.max-there)/t.multiplicity(r.group))
		case there > r.max:
			return 0
		}
	}
	return max(0, n)
}

// add adds n equal pods.
func (y *nodeCounts) add(t *topologyTerms, n int32) {
	if t == nil {
		return
	}
	for _, c := range t.hostGroups {
		y.findOrAdd(c).count += n
	}
	for i := range t.hostRules {
		if r := &t.hostRules[i]; r.kind != affinity {
			s := y.findOrAdd(r.group)
			s.limit = min(s.limit, r.max)
		}
	}
}

// addResident adds a pod that is there already: it is counted, and only its
// anti-affinity keeps others away.
func (y *nodeCounts) addResident(t *topologyTerms) {
	if t == nil {
		return
	}
	for _, c := range t.hostGroups {
		y.findOrAdd(c).count++
	}
	for i := range t.hostRules {
		if r := &t.hostRules[i]; r.kind == antiAffinity {
			y.findOrAdd(r.group).limit = 0
		}
	}
}

// countsOf are the node counts of the pods placed.
func (p *problem) countsOf(takes []classCount) nodeCounts {
	var y nodeCounts
	for _, t := range takes {
		y.add(p.classes[t.class].terms, t.n)
	}
	return y
}

// conflictGraph numbers the ways in which pods keep others off their node, as far
// as packing has to know: host ports, and the rules of hard local topology groups.
type conflictGraph struct {
	p        *problem
	ids      map[string]int32
	vertices []conflictVertex
	// edges says, for each and those before it, whether they exclude each
	// other.
	edges [][]bool
}

type conflictVertex struct {
	ports int32
	terms *topologyTerms
	text  string
	// limit is how many equal pods a node takes; 0 is any number.
	limit int32
}

// id numbers what a class keeps off its node, noPorts when that is nothing.
func (t *conflictGraph) id(c *class) int32 {
	s := conflictVertex{ports: c.ports, terms: t.p.topology.packedTerms(c.terms)}
	if s.ports < 0 && s.terms == nil {
		return noPorts
	}
	s.text = t.p.portKeyOf(s.ports) + " " + string(s.terms.appendKey(nil))
	if id, ok := t.ids[s.text]; ok {
		return id
	}
	if t.ids == nil {
		t.ids = map[string]int32{}
	}
	id := int32(len(t.vertices))
	t.ids[s.text] = id
	if s.ports >= 0 {
		s.limit = 1
	}
	if s.terms != nil {
		var y nodeCounts
		if n := y.allows(s.terms, math.MaxInt32); n < math.MaxInt32 && (s.limit == 0 || n < s.limit) {
			s.limit = n
		}
	}
	t.vertices = append(t.vertices, s)
	row := make([]bool, id+1)
	for other := range row {
		row[other] = t.excludes(&s, &t.vertices[other])
	}
	t.edges = append(t.edges, row)
	return id
}

// excludes says whether pods of both ways cannot share a node.
func (t *conflictGraph) excludes(a, b *conflictVertex) bool {
	if t.p.ports.conflicts(a.ports, b.ports) {
		return true
	}
	if a.terms == nil || b.terms == nil {
		return false
	}
	var y nodeCounts
	y.add(a.terms, 1)
	return y.allows(b.terms, 1) == 0
}

// conflicts says whether two ways cannot share a node.
func (t *conflictGraph) conflicts(a, b int32) bool {
	if a < 0 || b < 0 {
		return false
	}
	return t.edges[max(a, b)][min(a, b)]
}

// exclusive says whether a node takes no second pod like it.
func (t *conflictGraph) exclusive(id int32) bool { return id >= 0 && t.vertices[id].limit == 1 }

// limit is how many of n pods may share a node.
func (t *conflictGraph) limit(id, n int32) int32 {
	if id >= 0 && t.vertices[id].limit > 0 {
		return min(n, t.vertices[id].limit)
	}
	return n
}

func (t *conflictGraph) text(id int32) string {
	if id < 0 {
		return ""
	}
	return t.vertices[id].text
}

// packedRuleShare is the part of all pods up to which the rules of a local topology group are
// left to the assignment of pods to nodes, when there are more than smallPodCount.
const (
	packedRuleShare = 0.01
	smallPodCount   = 300
)

// Nodes with many pods can hardly be filled when many pods have rules for their node,
// and packing does not know of it: from hostRuleShare of them on, nodes are given as
// few pods that, on average, no more than hostRulePodsPerNode of them do.
const (
	hostRuleShare       = 0.05
	hostRulePodsPerNode = 2.4
)

// podsPerNodeCap is how many pods to give a node so that dealing can heed the rules
// of local topology groups that packing does not know; 0 where they are few. Bundles are not
// torn apart.
func (p *problem) podsPerNodeCap() int32 {
	mind, total, bundled := 0, 0, int32(0)
	for i := range p.classes {
		cl := &p.classes[i]
		total += len(cl.pods)
		bundled = max(bundled, cl.bundleSize)
		if cl.terms != nil && slices.ContainsFunc(cl.terms.hostRules, func(r rule) bool { return r.kind != affinity && !p.topology.groups[r.group].packed }) {
			mind += len(cl.pods)
		}
	}
	if float64(mind) < hostRuleShare*float64(total) || mind == 0 {
		return 0
	}
	return max(bundled, int32(hostRulePodsPerNode*float64(total)/float64(mind)))
}

// selectPackedRules finds the local topology groups that packing has to know: those that keep
// many pods off each other's nodes. The others would only multiply the items.
func (p *problem) selectPackedRules() {
	p.topology.selectPacked(p.classes)
	for i := range p.classes {
		p.classes[i].conflict = p.conflicts.id(&p.classes[i])
	}
}

func (t *topologyGroups) selectPacked(classes []class) {
	alone, owners, counted := make([]int, len(t.groups)), make([]int, len(t.groups)), make([]int, len(t.groups))
	total := 0
	for i := range classes {
		cl := &classes[i]
		n := len(cl.pods)
		total += n
		if cl.terms == nil {
			continue
		}
		for _, c := range cl.terms.hostGroups {
			counted[c] += n
		}
		for j := range cl.terms.hostRules {
			r := &cl.terms.hostRules[j]
			switch {
			case r.kind == affinity:
			case cl.terms.isCountedBy(r.group):
				alone[r.group] += n
			case r.kind == antiAffinity:
				owners[r.group] += n
			}
		}
	}
	least := int(packedRuleShare * float64(total))
	if total <= smallPodCount {
		least = 0
	}
	for c := range t.groups {
		t.groups[c].packed = t.groups[c].perHost && alone[c]+min(owners[c], counted[c]) > least
	}
}

// packedTerms are the topology terms to hard local topology groups, nil when there are none.
func (t *topologyGroups) packedTerms(all *topologyTerms) *topologyTerms {
	if all == nil {
		return nil
	}
	out := &topologyTerms{}
	for _, r := range all.hostRules {
		if r.kind != affinity && t.groups[r.group].packed {
			out.hostRules = append(out.hostRules, r)
		}
	}
	for _, c := range all.hostGroups {
		if t.groups[c].packed {
			out.hostGroups = append(out.hostGroups, c)
		}
	}
	if len(out.hostRules)+len(out.hostGroups) == 0 {
		return nil
	}
	return out
}
