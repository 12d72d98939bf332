package constraint

import "math"

// ConflictGraph numbers the different sets of constraints by which pods exclude
// others from their node, and knows which sets exclude each other. It holds what
// packing has to respect: host ports, and the rules of packed topology groups.
type ConflictGraph struct {
	ports    *Ports
	ids      map[string]int32
	vertices []conflictVertex
	// edges[a][b], for b <= a, says that pods of a and b cannot share a node;
	// edges[a][a] that two pods of a cannot.
	edges [][]bool
}

// conflictVertex is one set of constraints.
type conflictVertex struct {
	ports int32
	terms *Terms
	text  string
	// limit is how many equal pods a node takes; 0 is any number.
	limit int32
}

// NewConflictGraph returns a graph without vertices over the port sets of a table.
func NewConflictGraph(ports *Ports) *ConflictGraph {
	return &ConflictGraph{ports: ports, ids: map[string]int32{}}
}

// ID numbers the constraints of pods with a set of host ports and with terms, of
// which only those of packed topology groups belong here (PackedTerms). It is
// NoPorts for pods that exclude nobody.
func (t *ConflictGraph) ID(ports int32, terms *Terms) int32 {
	s := conflictVertex{ports: ports, terms: terms}
	if s.ports < 0 && s.terms == nil {
		return NoPorts
	}
	s.text = t.ports.text(s.ports) + " " + string(s.terms.AppendKey(nil))
	if id, ok := t.ids[s.text]; ok {
		return id
	}
	id := int32(len(t.vertices))
	t.ids[s.text] = id
	if s.ports >= 0 {
		s.limit = 1
	}
	if s.terms != nil {
		var y NodeCounts
		if n := y.Allows(s.terms, math.MaxInt32); n < math.MaxInt32 && (s.limit == 0 || n < s.limit) {
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
func (t *ConflictGraph) excludes(a, b *conflictVertex) bool {
	if t.ports.Conflicts(a.ports, b.ports) {
		return true
	}
	if a.terms == nil || b.terms == nil {
		return false
	}
	var y NodeCounts
	y.Add(a.terms, 1)
	return y.Allows(b.terms, 1) == 0
}

// Conflicts says whether pods of a and b cannot share a node. Negative numbers
// exclude nobody.
func (t *ConflictGraph) Conflicts(a, b int32) bool {
	if a < 0 || b < 0 {
		return false
	}
	return t.edges[max(a, b)][min(a, b)]
}

// Exclusive says whether a node takes no second pod of the vertex.
func (t *ConflictGraph) Exclusive(id int32) bool { return id >= 0 && t.vertices[id].limit == 1 }

// Text identifies the vertex by its constraints, whatever its number; "" for
// pods that exclude nobody.
func (t *ConflictGraph) Text(id int32) string {
	if id < 0 {
		return ""
	}
	return t.vertices[id].text
}

// Tables is the graph as plain data: by vertex, how many pods may share a node, 0 for
// any number, and excludes[a][b], for b <= a, whether pods of a and b cannot. The
// second is shared, not to be changed.
func (t *ConflictGraph) Tables() (perNode []int32, excludes [][]bool) {
	perNode = make([]int32, len(t.vertices))
	for i := range t.vertices {
		perNode[i] = t.vertices[i].limit
	}
	return perNode, t.edges
}
