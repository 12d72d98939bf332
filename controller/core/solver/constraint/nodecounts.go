package constraint

import "math"

// NodeCounts are the pods on one node as its per-host topology groups count them.
// The zero value is a node without pods.
type NodeCounts struct {
	// Counts has one entry for every group that counted a pod or has a limit.
	Counts []nodeCount
}

// nodeCount is what one group counts on a node, and how many it may count there
// before a rule of a pod on the node is broken.
type nodeCount struct {
	Group, Count, Limit int32
}

// find finds the count of a group, nil when the node has none yet.
func (y *NodeCounts) find(group int32) *nodeCount {
	for i := range y.Counts {
		if y.Counts[i].Group == group {
			return &y.Counts[i]
		}
	}
	return nil
}

// CountOf is how many pods the group counts on the node.
func (y *NodeCounts) CountOf(group int32) int32 {
	if c := y.find(group); c != nil {
		return c.Count
	}
	return 0
}

func (y *NodeCounts) findOrAdd(group int32) *nodeCount {
	if c := y.find(group); c != nil {
		return c
	}
	y.Counts = append(y.Counts, nodeCount{Group: group, Limit: math.MaxInt32})
	return &y.Counts[len(y.Counts)-1]
}

// Allows is how many, at most n, of equal pods may join the node: neither their
// rules nor those of the pods there are broken.
func (y *NodeCounts) Allows(t *Terms, n int32) int32 {
	if t == nil {
		return n
	}
	for at, g := range t.HostGroups {
		if at > 0 && g == t.HostGroups[at-1] {
			continue
		}
		if c := y.find(g); c != nil {
			n = min(n, (c.Limit-c.Count)/LeadingRepeats(t.HostGroups[at:]))
		}
	}
	for i := range t.HostRules {
		r := &t.HostRules[i]
		there := y.CountOf(r.Group)
		switch {
		case r.Kind == Affinity:
			if there == 0 {
				return 0
			}
		case t.Multiplicity(r.Group) > 0:
			n = min(n, (r.Max-there)/t.Multiplicity(r.Group))
		case there > r.Max:
			return 0
		}
	}
	return max(0, n)
}

// Add adds n equal pods, whose rules are in force from then on.
func (y *NodeCounts) Add(t *Terms, n int32) {
	if t == nil {
		return
	}
	for _, g := range t.HostGroups {
		y.findOrAdd(g).Count += n
	}
	for i := range t.HostRules {
		if r := &t.HostRules[i]; r.Kind != Affinity {
			c := y.findOrAdd(r.Group)
			c.Limit = min(c.Limit, r.Max)
		}
	}
}

// Remove takes back n pods that add counted. Their rules stay in force.
func (y *NodeCounts) Remove(t *Terms, n int32) {
	if t == nil {
		return
	}
	for _, g := range t.HostGroups {
		y.findOrAdd(g).Count -= n
	}
}

// AddResident adds a pod that runs on the node already. Of its rules only
// anti-affinity is in force: the scheduler looks at the others of a pod when it
// binds that pod, and never again.
func (y *NodeCounts) AddResident(t *Terms) {
	if t == nil {
		return
	}
	for _, g := range t.HostGroups {
		y.findOrAdd(g).Count++
	}
	for i := range t.HostRules {
		if r := &t.HostRules[i]; r.Kind == AntiAffinity {
			y.findOrAdd(r.Group).Limit = 0
		}
	}
}
