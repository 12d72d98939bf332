package solver

import (
	"cmp"
	"maps"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// baseline packs the way most autoscalers do: first fit by decreasing size
// into nodes whose type stays open, and the cheapest type that fits in the
// end. It shares nothing with the solver. Host ports, limits, weights and
// existing nodes are not its business. A pod keeps off PreferNoSchedule taints
// where it finds a place without, unless preferences are ignored.
type baseline struct {
	s     *model.Snapshot
	nodes []*anyNode
	// avoiding says that PreferNoSchedule taints keep pods off at the moment.
	avoiding bool
}

type anyNode struct {
	pool    int
	taken   model.Resources
	options []openOption
}

type openOption struct {
	t *model.InstanceType
	o *model.Offering
}

// cost is what the baseline's plan costs, and how many pods it left out.
func (b *baseline) cost(pods []int32) (sum float64, unplaced int) {
	order := slices.Clone(pods)
	slices.SortStableFunc(order, func(x, y int32) int {
		p, q := b.spec(x).Requests, b.spec(y).Requests
		if c := cmp.Compare(q["cpu"], p["cpu"]); c != 0 {
			return c
		}
		return cmp.Compare(q["memory"], p["memory"])
	})
	for _, i := range order {
		if len(b.spec(i).Unsupported) > 0 || !b.place(b.spec(i)) {
			unplaced++
		}
	}
	for _, n := range b.nodes {
		least := n.options[0].o.Price
		for _, o := range n.options {
			least = min(least, o.o.Price)
		}
		sum += least.USD()
	}
	return sum, unplaced
}

func (b *baseline) spec(i int32) *model.PodSpec { return &b.s.Specs[b.s.Pods[i].Spec] }

func (b *baseline) place(s *model.PodSpec) bool {
	b.avoiding = !b.s.Settings.IgnorePreferences
	if b.avoiding && b.put(s) {
		return true
	}
	b.avoiding = false
	return b.put(s)
}

func (b *baseline) put(s *model.PodSpec) bool {
	for _, n := range b.nodes {
		if b.join(n, s) {
			return true
		}
	}
	for p := range b.s.Pools {
		n := &anyNode{pool: p, taken: model.Resources{}}
		if b.s.Pools[p].NotReady != "" {
			continue
		}
		types := b.s.Catalogs[b.s.Pools[p].Catalog].Types
		for t := range types {
			for o := range types[t].Offerings {
				if types[t].Offerings[o].Available && b.allows(p, b.s.Pools[p].Requirements, &types[t], &types[t].Offerings[o]) {
					n.options = append(n.options, openOption{&types[t], &types[t].Offerings[o]})
				}
			}
		}
		if b.join(n, s) {
			b.nodes = append(b.nodes, n)
			return true
		}
	}
	return false
}

func (b *baseline) join(n *anyNode, s *model.PodSpec) bool {
	if keepsOut(s, b.s.Pools[n.pool].Taints, b.avoiding) {
		return false
	}
	taken := n.taken.Clone()
	taken.Add(s.Requests)
	var left []openOption
	for _, o := range n.options {
		if b.holds(n.pool, o, taken) && b.selects(n.pool, s, o) {
			left = append(left, o)
		}
	}
	if len(left) == 0 {
		return false
	}
	n.taken, n.options = taken, left
	return true
}

func (b *baseline) holds(pool int, o openOption, taken model.Resources) bool {
	room := o.t.Allocatable.Clone()
	for d := range b.s.Daemons {
		spec := &b.s.Daemons[d].Spec
		if !keepsOut(spec, b.s.Pools[pool].Taints, false) && b.selects(pool, spec, o) {
			for name, n := range spec.Requests {
				room[name] -= n
			}
		}
	}
	for name, n := range taken {
		if n > 0 && n > room[name] {
			return false
		}
	}
	return true
}

func keepsOut(s *model.PodSpec, taints []model.Taint, avoiding bool) bool {
	for _, t := range taints {
		ok := t.Effect == model.PreferNoSchedule && !avoiding
		for _, o := range s.Tolerations {
			ok = ok || (o.Key == t.Key || o.Key == "") && (o.Exists || o.Value == t.Value) && (o.Effect == "" || o.Effect == t.Effect)
		}
		if !ok {
			return true
		}
	}
	return false
}

func (b *baseline) selects(pool int, s *model.PodSpec, o openOption) bool {
	var all []model.Requirement
	for k, v := range s.NodeSelector {
		all = append(all, model.Requirement{Key: k, Operator: model.In, Values: []string{v}})
	}
	if !b.allows(pool, all, o.t, o.o) {
		return false
	}
	for _, term := range s.Affinity {
		if b.allows(pool, term, o.t, o.o) {
			return true
		}
	}
	return len(s.Affinity) == 0
}

func (b *baseline) allows(pool int, rs []model.Requirement, t *model.InstanceType, o *model.Offering) bool {
	p := &b.s.Pools[pool]
	labels := map[string]string{
		"topology.kubernetes.io/zone": o.Zone, "topology.k8s.aws/zone-id": o.ZoneID,
		"karpenter.sh/capacity-type": string(o.CapacityType), "karpenter.sh/nodepool": p.Name, "kubernetes.io/hostname": "?",
	}
	maps.Copy(labels, t.Labels)
	maps.Copy(labels, p.NodeLabels)
	for _, r := range p.Requirements {
		if r.Key == "example.com/team" {
			labels[r.Key] = r.Values[0]
		}
	}
	for i := range rs {
		v, ok := labels[rs[i].Key]
		if !rs[i].Matches(v, ok) {
			return false
		}
	}
	return true
}
