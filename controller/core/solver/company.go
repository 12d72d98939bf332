package solver

import (
	"math"
	"slices"
)

// company is who is on a node, as far as the rules of single nodes care: how
// many pods each local census counts there, and how many it may.
type company struct {
	tallies []tally
}

type tally struct {
	census, n, most int32
}

// of finds the tally of a census, nil when the node has none yet.
func (y *company) of(census int32) *tally {
	for i := range y.tallies {
		if y.tallies[i].census == census {
			return &y.tallies[i]
		}
	}
	return nil
}

func (y *company) need(census int32) *tally {
	if t := y.of(census); t != nil {
		return t
	}
	y.tallies = append(y.tallies, tally{census: census, most: math.MaxInt32})
	return &y.tallies[len(y.tallies)-1]
}

// allows is how many, at most n, of equal pods may join the node.
func (y *company) allows(t *ties, n int32) int32 {
	if t == nil {
		return n
	}
	for at, c := range t.localCounted {
		if at > 0 && c == t.localCounted[at-1] {
			continue
		}
		if s := y.of(c); s != nil {
			n = min(n, (s.most-s.n)/times(t.localCounted[at:]))
		}
	}
	for i := range t.local {
		r := &t.local[i]
		there := int32(0)
		if s := y.of(r.census); s != nil {
			there = s.n
		}
		switch {
		case r.kind == near:
			if there == 0 {
				return 0
			}
		case t.times(r.census) > 0:
			n = min(n, (r.max-there)/t.times(r.census))
		case there > r.max:
			return 0
		}
	}
	return max(0, n)
}

// join adds n equal pods.
func (y *company) join(t *ties, n int32) {
	if t == nil {
		return
	}
	for _, c := range t.localCounted {
		y.need(c).n += n
	}
	for i := range t.local {
		if r := &t.local[i]; r.kind != near {
			s := y.need(r.census)
			s.most = min(s.most, r.max)
		}
	}
}

// reside adds a pod that is there already: it is counted, and only its
// anti-affinity keeps others away.
func (y *company) reside(t *ties) {
	if t == nil {
		return
	}
	for _, c := range t.localCounted {
		y.need(c).n++
	}
	for i := range t.local {
		if r := &t.local[i]; r.kind == apart {
			y.need(r.census).most = 0
		}
	}
}

// newCompany is the company of the pods taken.
func (p *problem) newCompany(takes []take) company {
	var y company
	for _, t := range takes {
		y.join(p.classes[t.class].ties, t.n)
	}
	return y
}

// apartTable numbers the ways in which pods keep others off their node, as far
// as packing has to know: host ports, and the rules of hard local censuses.
type apartTable struct {
	p    *problem
	ids  map[string]int32
	sets []apartSet
	// clash says, for each and those before it, whether they exclude each
	// other.
	clash [][]bool
}

type apartSet struct {
	ports int32
	ties  *ties
	text  string
	// most is how many equal pods a node takes; 0 is any number.
	most int32
}

// id numbers what a class keeps off its node, noPorts when that is nothing.
func (t *apartTable) id(c *class) int32 {
	s := apartSet{ports: c.ports, ties: t.p.topo.hardTies(c.ties)}
	if s.ports < 0 && s.ties == nil {
		return noPorts
	}
	s.text = t.p.portOrder(s.ports) + " " + string(s.ties.key(nil))
	if id, ok := t.ids[s.text]; ok {
		return id
	}
	if t.ids == nil {
		t.ids = map[string]int32{}
	}
	id := int32(len(t.sets))
	t.ids[s.text] = id
	if s.ports >= 0 {
		s.most = 1
	}
	if s.ties != nil {
		var y company
		if n := y.allows(s.ties, math.MaxInt32); n < math.MaxInt32 && (s.most == 0 || n < s.most) {
			s.most = n
		}
	}
	t.sets = append(t.sets, s)
	row := make([]bool, id+1)
	for other := range row {
		row[other] = t.exclude(&s, &t.sets[other])
	}
	t.clash = append(t.clash, row)
	return id
}

// exclude says whether pods of both ways cannot share a node.
func (t *apartTable) exclude(a, b *apartSet) bool {
	if t.p.ports.conflicts(a.ports, b.ports) {
		return true
	}
	if a.ties == nil || b.ties == nil {
		return false
	}
	var y company
	y.join(a.ties, 1)
	return y.allows(b.ties, 1) == 0
}

// conflicts says whether two ways cannot share a node.
func (t *apartTable) conflicts(a, b int32) bool {
	if a < 0 || b < 0 {
		return false
	}
	return t.clash[max(a, b)][min(a, b)]
}

// alone says whether a node takes no second pod like it.
func (t *apartTable) alone(id int32) bool { return id >= 0 && t.sets[id].most == 1 }

// most is how many of n pods may share a node.
func (t *apartTable) most(id, n int32) int32 {
	if id >= 0 && t.sets[id].most > 0 {
		return min(n, t.sets[id].most)
	}
	return n
}

func (t *apartTable) text(id int32) string {
	if id < 0 {
		return ""
	}
	return t.sets[id].text
}

// softShare is the part of all pods up to which the rules of a local census are
// left to the dealing of pods to nodes, when there are more than fewPods.
const (
	softShare = 0.01
	fewPods   = 300
)

// Nodes with many pods can hardly be filled when many pods mind their company,
// and packing does not know of it: from minded of them on, nodes are given as
// few pods that, on average, no more than mindedOnNode of them do.
const (
	minded       = 0.05
	mindedOnNode = 2.4
)

// companions is how many pods to give a node so that dealing can heed the rules
// of local censuses that packing does not know; 0 where they are few. Bundles are not
// torn apart.
func (p *problem) companions() int32 {
	mind, total, bundled := 0, 0, int32(0)
	for i := range p.classes {
		cl := &p.classes[i]
		total += len(cl.pods)
		bundled = max(bundled, cl.size)
		if cl.ties != nil && slices.ContainsFunc(cl.ties.local, func(r rule) bool { return r.kind != near && !p.topo.censuses[r.census].hard }) {
			mind += len(cl.pods)
		}
	}
	if float64(mind) < minded*float64(total) || mind == 0 {
		return 0
	}
	return max(bundled, int32(mindedOnNode*float64(total)/float64(mind)))
}

// harden finds the local censuses that packing has to know: those that keep
// many pods off each other's nodes. The others would only multiply the rows.
func (p *problem) harden() {
	p.topo.harden(p.classes)
	for i := range p.classes {
		p.classes[i].apart = p.apart.id(&p.classes[i])
	}
}

func (t *topology) harden(classes []class) {
	alone, owners, counted := make([]int, len(t.censuses)), make([]int, len(t.censuses)), make([]int, len(t.censuses))
	total := 0
	for i := range classes {
		cl := &classes[i]
		n := len(cl.pods)
		total += n
		if cl.ties == nil {
			continue
		}
		for _, c := range cl.ties.localCounted {
			counted[c] += n
		}
		for j := range cl.ties.local {
			r := &cl.ties.local[j]
			switch {
			case r.kind == near:
			case cl.ties.counts(r.census):
				alone[r.census] += n
			case r.kind == apart:
				owners[r.census] += n
			}
		}
	}
	least := int(softShare * float64(total))
	if total <= fewPods {
		least = 0
	}
	for c := range t.censuses {
		t.censuses[c].hard = t.censuses[c].local && alone[c]+min(owners[c], counted[c]) > least
	}
}

// hardTies are the ties to hard local censuses, nil when there are none.
func (t *topology) hardTies(all *ties) *ties {
	if all == nil {
		return nil
	}
	out := &ties{}
	for _, r := range all.local {
		if r.kind != near && t.censuses[r.census].hard {
			out.local = append(out.local, r)
		}
	}
	for _, c := range all.localCounted {
		if t.censuses[c].hard {
			out.localCounted = append(out.localCounted, c)
		}
	}
	if len(out.local)+len(out.localCounted) == 0 {
		return nil
	}
	return out
}
