package check

import (
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// crowd is every pod where it is once the plan has come true, as groups of
// equal pods of one place.
type crowd struct {
	v      *verifier
	groups []group
	bySpec map[int32][]int
	// values remembers the domains of each place by label key.
	values map[string][][]string
	sets   [][]labelSet
}

// group is n pods of a spec at a place: an existing node, or len(Nodes) and
// more, a planned one.
type group struct {
	spec, place int32
	n           int
	// counted are those that spread constraints count: not the ending ones.
	counted int
	// placed says that the plan put them there.
	placed bool
}

func (v *verifier) crowd() *crowd {
	c := &crowd{v: v, bySpec: map[int32][]int{}, values: map[string][][]string{}}
	c.sets = make([][]labelSet, c.places())
	at := map[group]int{}
	add := func(pod, place int32, placed bool) {
		p := v.pod(pod)
		if p == nil {
			return
		}
		key := group{spec: p.Spec, place: place, placed: placed}
		i, ok := at[key]
		if !ok {
			i = len(c.groups)
			at[key] = i
			c.groups = append(c.groups, key)
			c.bySpec[p.Spec] = append(c.bySpec[p.Spec], i)
		}
		c.groups[i].n++
		if !p.Ending {
			c.groups[i].counted++
		}
	}
	nodes := int32(len(v.s.Nodes))
	for i := range v.s.Pods {
		p := &v.s.Pods[i]
		if p.Node >= 0 && p.Node < nodes && !v.moving[int32(i)] {
			add(int32(i), p.Node, false)
		}
	}
	for i := range v.plan.Existing {
		if a := &v.plan.Existing[i]; a.Node >= 0 && a.Node < nodes {
			for _, p := range a.Pods {
				add(p, a.Node, true)
			}
		}
	}
	for i := range v.plan.Nodes {
		for _, p := range v.plan.Nodes[i].Pods {
			add(p, nodes+int32(i), true)
		}
	}
	return c
}

// places is the number of places.
func (c *crowd) places() int { return len(c.v.s.Nodes) + len(c.v.plan.Nodes) }

// domains are the values that a place may turn out to have for a label: one
// for a node that is there, one for each different option of a planned node,
// none where it lacks the label.
func (c *crowd) domains(place int32, key string) []string {
	all, ok := c.values[key]
	if !ok {
		all = make([][]string, c.places())
		for i := range all {
			all[i] = c.look(int32(i), key)
		}
		c.values[key] = all
	}
	return all[place]
}

func (c *crowd) look(place int32, key string) []string {
	var out []string
	for _, l := range c.labels(place) {
		value, ok := l.values[key]
		if key == hostname && l.anonymous {
			value, ok = fmt.Sprintf("planned node %d", place), true
		}
		if ok && !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	return out
}

// labels are the label sets that a place may turn out to have.
func (c *crowd) labels(place int32) []labelSet {
	if c.sets[place] == nil {
		c.sets[place] = c.spell(place)
	}
	return c.sets[place]
}

func (c *crowd) spell(place int32) []labelSet {
	if int(place) < len(c.v.s.Nodes) {
		return []labelSet{c.v.nodeLabels(&c.v.s.Nodes[place])}
	}
	n := &c.v.plan.Nodes[int(place)-len(c.v.s.Nodes)]
	out := []labelSet{}
	for _, o := range n.Options {
		b := c.v.blueprint(launch{n.Pool, o.InstanceType, o.Zone, o.CapacityType, fmt.Sprint(n.Labels)}, n.Labels)
		if b.broken == "" {
			out = append(out, b.labels)
		}
	}
	return out
}

// taints are those that keep pods off the place for good.
func (c *crowd) taints(place int32) []model.Taint {
	if int(place) < len(c.v.s.Nodes) {
		return c.v.lasting(&c.v.s.Nodes[place])
	}
	if p := c.v.plan.Nodes[int(place)-len(c.v.s.Nodes)].Pool; p >= 0 && int(p) < len(c.v.s.Pools) {
		return c.v.s.Pools[p].Taints
	}
	return nil
}

func (c *crowd) name(place int32) string {
	if int(place) < len(c.v.s.Nodes) {
		return c.v.s.Nodes[place].Name
	}
	return c.v.name(int(place) - len(c.v.s.Nodes))
}

// among lists the groups whose pods the selector matches.
func (c *crowd) among(s *model.PodSelector) []int {
	var out []int
	for spec, groups := range c.bySpec {
		if picks(s, &c.v.s.Specs[spec]) {
			out = append(out, groups...)
		}
	}
	slices.Sort(out)
	return out
}

// picks evaluates a pod selector, the slow and obvious way.
func picks(s *model.PodSelector, pod *model.PodSpec) bool {
	if s.Nothing || !slices.Contains(s.Namespaces, pod.Namespace) {
		return false
	}
	l := labelSet{values: pod.Labels}
	for _, r := range s.Labels {
		if !l.meets(r) {
			return false
		}
	}
	return true
}
