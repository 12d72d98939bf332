package solver

import (
	"fmt"
	"maps"
	"math"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/problem"
)

// somewhere is a node of the finished plan, with its possible labels.
type somewhere struct {
	labels []func(string) (string, bool)
	taints []model.Taint
	// pods are all that will be there, placed those that the plan put there.
	pods, placed []int32
}

// world of a finished plan: the nodes that stay, then those planned.
func aftermath(in *Input, plan *model.Plan) []somewhere {
	s := in.Snapshot
	moving := map[int32]bool{}
	for _, i := range in.Pods {
		moving[i] = true
	}
	var out []somewhere
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.State == model.Deleting {
			continue
		}
		x := somewhere{taints: constraint.PermanentTaints(n, s.Pools), labels: []func(string) (string, bool){problem.NodeLabels(s, n)}}
		for j := range s.Pods {
			if int(s.Pods[j].Node) == i && !moving[int32(j)] {
				x.pods = append(x.pods, int32(j))
			}
		}
		for _, a := range plan.Existing {
			if int(a.Node) == i {
				x.placed = append(x.placed, a.Pods...)
			}
		}
		x.pods = append(x.pods, x.placed...)
		out = append(out, x)
	}
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		pool := &s.Pools[n.Pool]
		x := somewhere{taints: pool.Taints, pods: n.Pods, placed: n.Pods}
		for _, o := range n.Options {
			labels := map[string]string{constraint.LabelPool: pool.Name, constraint.LabelHostname: fmt.Sprint("new ", i), constraint.LabelZone: o.Zone, constraint.LabelCapacityType: string(o.CapacityType), constraint.LabelInstanceType: o.InstanceType}
			for t := range s.Catalogs[pool.Catalog].Types {
				if typ := &s.Catalogs[pool.Catalog].Types[t]; typ.Name == o.InstanceType {
					labels[constraint.LabelArch] = typ.Arch
					maps.Copy(labels, typ.Labels)
					for _, f := range typ.Offerings {
						if f.Zone == o.Zone {
							labels[constraint.LabelZoneID] = f.ZoneID
						}
					}
				}
			}
			maps.Copy(labels, pool.NodeLabels)
			maps.Copy(labels, n.Labels)
			x.labels = append(x.labels, func(k string) (string, bool) { v, ok := labels[k]; return v, ok })
		}
		out = append(out, x)
	}
	return out
}

// tallyOf counts by domain, at least and at most, the pods that match on the
// nodes that pass; every domain of a node that may pass is listed.
func tallyOf(s *model.Snapshot, nodes []somewhere, key string, match func(*model.PodSpec) bool, pass func(*somewhere, func(string) (string, bool)) bool) (lo, hi map[string]int) {
	lo, hi = map[string]int{}, map[string]int{}
	for i := range nodes {
		x := &nodes[i]
		n := 0
		for _, p := range x.pods {
			if match(&s.Specs[s.Pods[p].Spec]) {
				n++
			}
		}
		values := map[string]bool{}
		sure := true
		for _, l := range x.labels {
			v, ok := l(key)
			if !ok || !pass(x, l) {
				sure = false
				continue
			}
			values[v] = true
		}
		for v := range values {
			hi[v] += n
			lo[v] += 0
			if sure && len(values) == 1 {
				lo[v] += n
			}
		}
	}
	return lo, hi
}

func everywhere(*somewhere, func(string) (string, bool)) bool { return true }

// prove lists the required topology constraints that a plan breaks, worked out
// from the snapshot alone, in the simplest way.
func prove(in *Input, plan *model.Plan) []string {
	s := in.Snapshot
	nodes := aftermath(in, plan)
	var out []string
	for i := range nodes {
		for _, pod := range nodes[i].placed {
			spec := &s.Specs[s.Pods[pod].Spec]
			for _, l := range nodes[i].labels {
				for _, text := range broken(s, nodes, spec, l) {
					out = append(out, s.Pods[pod].Name+": "+text)
				}
			}
		}
		for _, pod := range nodes[i].pods { // symmetry
			for _, t := range s.Specs[s.Pods[pod].Spec].PodAntiAffinity {
				out = append(out, crowdedBy(s, nodes, i, pod, &t)...)
			}
		}
	}
	return out
}

// crowdedBy finds placed pods that a term of a pod forbids.
func crowdedBy(s *model.Snapshot, nodes []somewhere, i int, pod int32, t *model.PodTerm) []string {
	var out []string
	for _, l := range nodes[i].labels {
		v, ok := l(t.Key)
		for j := range nodes {
			for _, m := range nodes[j].labels {
				if w, also := m(t.Key); !ok || !also || v != w {
					continue
				}
				for _, other := range nodes[j].placed {
					spec := &s.Specs[s.Pods[other].Spec]
					if other != pod && t.Selector.Matches(spec.Namespace, spec.Labels) {
						out = append(out, fmt.Sprintf("%s: %s wants it away from its %s %s", s.Pods[other].Name, s.Pods[pod].Name, t.Key, v))
					}
				}
			}
		}
	}
	return out
}

func broken(s *model.Snapshot, nodes []somewhere, spec *model.PodSpec, l func(string) (string, bool)) []string {
	var out []string
	for i := range spec.Spread {
		sp := &spec.Spread[i]
		if sp.Soft {
			continue
		}
		match := func(o *model.PodSpec) bool { return sp.Selector.Matches(o.Namespace, o.Labels) }
		own := spec
		if spec.Pinned {
			own = &model.PodSpec{NodeSelector: spec.NodeSelector, Affinity: spec.OwnAffinity}
		}
		lo, hi := tallyOf(s, nodes, sp.Key, match, func(x *somewhere, l func(string) (string, bool)) bool {
			for j := range spec.Spread {
				if _, ok := l(spec.Spread[j].Key); !ok && !spec.Spread[j].Soft {
					return false
				}
			}
			return (sp.IgnoreAffinity || own.Selects(l)) && (!sp.HonorTaints || constraint.Untolerated(spec.Tolerations, x.taints) == nil)
		})
		least := math.MaxInt
		for _, n := range lo {
			least = min(least, n)
		}
		if len(lo) < int(sp.MinDomains) || sp.Key == constraint.LabelHostname {
			least = 0
		}
		v, ok := l(sp.Key)
		if !ok || hi[v]-least > int(sp.MaxSkew) {
			out = append(out, fmt.Sprintf("spread over %s: %s has up to %d, least %d, maxSkew %d", sp.Key, v, hi[v], least, sp.MaxSkew))
		}
	}
	for i := range spec.PodAntiAffinity {
		t := &spec.PodAntiAffinity[i]
		self := 0
		if t.Selector.Matches(spec.Namespace, spec.Labels) {
			self = 1
		}
		_, hi := tallyOf(s, nodes, t.Key, func(o *model.PodSpec) bool { return t.Selector.Matches(o.Namespace, o.Labels) }, everywhere)
		if v, ok := l(t.Key); ok && hi[v] > self {
			out = append(out, fmt.Sprintf("anti-affinity: %s %s has %d", t.Key, v, hi[v]))
		}
	}
	all := func(o *model.PodSpec) bool {
		for i := range spec.PodAffinity {
			if !spec.PodAffinity[i].Selector.Matches(o.Namespace, o.Labels) {
				return false
			}
		}
		return true
	}
	for i := range spec.PodAffinity {
		key := spec.PodAffinity[i].Key
		lo, hi := tallyOf(s, nodes, key, all, everywhere)
		v, ok := l(key)
		elsewhere := 0
		for w, n := range hi {
			if w != v {
				elsewhere += n
			}
		}
		switch {
		case !ok:
			out = append(out, "affinity: no "+key)
		case lo[v] == 0, all(spec) && lo[v] == 1 && elsewhere > 0:
			out = append(out, "affinity: nobody in "+key+" "+v)
		}
	}
	return out
}
