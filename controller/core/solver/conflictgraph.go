package solver

import "math"

// conflictGraph numbers the different sets of constraints by which pods exclude
// others from their node, and knows which sets exclude each other. It holds what
// packing has to respect: host ports, and the rules of packed topology groups.
type conflictGraph struct {
	ports    *portTable
	ids      map[string]int32
	vertices []conflictVertex
	// edges[a][b], for b <= a, says that pods of a and b cannot share a node;
	// edges[a][a] that two pods of a cannot.
	edges [][]bool
}

// conflictVertex is one set of constraints.
type conflictVertex struct {
	ports int32
	terms *topologyTerms
	text  string
	// limit is how many equal pods a node takes; 0 is any number.
	limit int32
}

// newConflictGraph returns a graph without vertices over the port sets of a table.
func newConflictGraph(ports *portTable) *conflictGraph {
	return &conflictGraph{ports: ports, ids: map[string]int32{}}
}

// id numbers the constraints of pods with a set of host ports and with terms, of
// which only those of packed topology groups belong here (packedTerms). It is
// noPorts for pods that exclude nobody.
func (t *conflictGraph) id(ports int32, terms *topologyTerms) int32 {
	s := conflictVertex{ports: ports, terms: terms}
	if s.ports < 0 && s.terms == nil {
		return noPorts
	}
	s.text = t.ports.text(s.ports) + " " + string(s.terms.appendKey(nil))
	if id, ok := t.ids[s.text]; ok {
		return id
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

// excludes says whether a node with a pod of a takes no pod of b.
func (t *conflictGraph) excludes(a, b *conflictVertex) bool {
	if t.ports.conflicts(a.ports, b.ports) {
		return true
	}
	if a.terms == nil || b.terms == nil {
		return false
	}
	var y nodeCounts
	y.add(a.terms, 1)
	return y.allows(b.terms, 1) == 0
}

// conflicts says whether pods of a and b cannot share a node. Negative numbers
// exclude nobody.
func (t *conflictGraph) conflicts(a, b int32) bool {
	if a < 0 || b < 0 {
		return false
	}
	return t.edges[max(a, b)][min(a, b)]
}

// exclusive says whether a node takes no second pod of the vertex.
func (t *conflictGraph) exclusive(id int32) bool { return id >= 0 && t.vertices[id].limit == 1 }

// limit is how many of n pods of the vertex may share a node.
func (t *conflictGraph) limit(id, n int32) int32 {
	if id >= 0 && t.vertices[id].limit > 0 {
		return min(n, t.vertices[id].limit)
	}
	return n
}

// text identifies the vertex by its constraints, whatever its number; "" for
// pods that exclude nobody.
func (t *conflictGraph) text(id int32) string {
	if id < 0 {
		return ""
	}
	return t.vertices[id].text
}
