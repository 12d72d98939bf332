package solver

import "math"

// nodeCounts are the pods on one node as its per-host topology groups count them.
// The zero value is a node without pods.
type nodeCounts struct {
	counts []nodeCount
}

// nodeCount is what one group counts on a node, and how many it may count there
// before a rule of a pod on the node is broken.
type nodeCount struct {
	group, count, limit int32
}

// find finds the count of a group, nil when the node has none yet.
func (y *nodeCounts) find(group int32) *nodeCount {
	for i := range y.counts {
		if y.counts[i].group == group {
			return &y.counts[i]
		}
	}
	return nil
}

// countOf is how many pods the group counts on the node.
func (y *nodeCounts) countOf(group int32) int32 {
	if c := y.find(group); c != nil {
		return c.count
	}
	return 0
}

func (y *nodeCounts) findOrAdd(group int32) *nodeCount {
	if c := y.find(group); c != nil {
		return c
	}
	y.counts = append(y.counts, nodeCount{group: group, limit: math.MaxInt32})
	return &y.counts[len(y.counts)-1]
}

// allows is how many, at most n, of equal pods may join the node: neither their
// rules nor those of the pods there are broken.
func (y *nodeCounts) allows(t *topologyTerms, n int32) int32 {
	if t == nil {
		return n
	}
	for at, g := range t.hostGroups {
		if at > 0 && g == t.hostGroups[at-1] {
			continue
		}
		if c := y.find(g); c != nil {
			n = min(n, (c.limit-c.count)/leadingRepeats(t.hostGroups[at:]))
		}
	}
	for i := range t.hostRules {
		r := &t.hostRules[i]
		there := y.countOf(r.group)
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

// add adds n equal pods, whose rules are in force from then on.
func (y *nodeCounts) add(t *topologyTerms, n int32) {
	if t == nil {
		return
	}
	for _, g := range t.hostGroups {
		y.findOrAdd(g).count += n
	}
	for i := range t.hostRules {
		if r := &t.hostRules[i]; r.kind != affinity {
			c := y.findOrAdd(r.group)
			c.limit = min(c.limit, r.max)
		}
	}
}

// remove takes back n pods that add counted. Their rules stay in force.
func (y *nodeCounts) remove(t *topologyTerms, n int32) {
	if t == nil {
		return
	}
	for _, g := range t.hostGroups {
		y.findOrAdd(g).count -= n
	}
}

// addResident adds a pod that runs on the node already. Of its rules only
// anti-affinity is in force: the scheduler looks at the others of a pod when it
// binds that pod, and never again.
func (y *nodeCounts) addResident(t *topologyTerms) {
	if t == nil {
		return
	}
	for _, g := range t.hostGroups {
		y.findOrAdd(g).count++
	}
	for i := range t.hostRules {
		if r := &t.hostRules[i]; r.kind == antiAffinity {
			y.findOrAdd(r.group).limit = 0
		}
	}
}
