package solver

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

// needlesslyUnplaced names the pods that a plan leaves out although a node of their own would
// take them for certain. It judges only where nothing else can matter: pods without
// required topology and host ports, on pools without limits and minValues; and, where
// there are cost limits, plans that spend nothing of them. Of all other pods it says
// nothing.
func needlesslyUnplaced(in *Input, plan *model.Plan) []string {
	if len(in.Headroom) > 0 && len(plan.Nodes) > 0 {
		return nil
	}
	var out []string
	for _, u := range plan.Unplaced {
		p := &in.Snapshot.Pods[u.Pod]
		spec := &in.Snapshot.Specs[p.Spec]
		if !undisturbed(in.Snapshot, spec) {
			continue
		}
		if where := offeringFor(in, spec); where != "" {
			out = append(out, fmt.Sprintf("%s is left out (%v), and fits on %s", p.Name, u.Reasons, where))
		}
	}
	return out
}

// undisturbed says that no other pod decides where pods of the spec may be: a new node
// is theirs. Those that a required spread of others counts are not alone: on some
// nodes they would break it.
func undisturbed(s *model.Snapshot, spec *model.PodSpec) bool {
	if len(spec.PodAffinity)+len(spec.PodAntiAffinity)+len(spec.HostPorts)+len(spec.Unsupported) > 0 {
		return false
	}
	bears := func(x model.Spread) bool { return !x.Soft && x.Selector.Matches(spec.Namespace, spec.Labels) }
	repels := func(x model.PodTerm) bool {
		return x.Key != constraint.LabelHostname && x.Selector.Matches(spec.Namespace, spec.Labels)
	}
	for i := range s.Specs {
		if slices.ContainsFunc(s.Specs[i].Spread, bears) || slices.ContainsFunc(s.Specs[i].PodAntiAffinity, repels) {
			return false
		}
	}
	return !slices.ContainsFunc(spec.Spread, func(x model.Spread) bool { return !x.Soft })
}

// offeringFor is an offering that can be launched and takes a pod of the spec together
// with every DaemonSet, empty where there is none for certain.
func offeringFor(in *Input, spec *model.PodSpec) string {
	s := in.Snapshot
	need := spec.Requests.Clone()
	for i := range s.Daemons {
		need.Add(s.Daemons[i].Spec.Requests)
	}
	for i := range s.Pools {
		p := &s.Pools[i]
		closed := p.NotReady != "" || p.Limits != nil || slices.ContainsFunc(p.Taints, func(x model.Taint) bool {
			return x.Effect != model.PreferNoSchedule && !spec.Tolerates(&x)
		})
		if closed {
			continue
		}
		for t := range s.Catalogs[p.Catalog].Types {
			typ := &s.Catalogs[p.Catalog].Types[t]
			for k, o := range typ.Offerings {
				if o.Available && policiesAllow(in, int32(i), t, k) && coversAll(typ.Allocatable, need) && fitsLabels(p, spec, labelsOf(p, typ, &o)) {
					return fmt.Sprintf("%s in %s, %s, of %s", typ.Name, o.Zone, o.CapacityType, p.Name)
				}
			}
		}
	}
	return ""
}

// policiesAllow says whether policies let one node of an offering be launched, by type and
// offering of the pool's catalogue.
func policiesAllow(in *Input, pool int32, typ, offering int) bool {
	t := &in.Snapshot.Catalogs[in.Snapshot.Pools[pool].Catalog].Types[typ]
	o := &t.Offerings[offering]
	if in.Costs != nil && in.Costs[pool] != nil && in.Costs[pool][typ][offering].Excluded {
		return false
	}
	if slices.ContainsFunc(in.Denied, func(d model.Denied) bool {
		return d.Pool == pool && (d.InstanceType == "" || d.InstanceType == t.Name) && (d.Zone == "" || d.Zone == o.Zone) && (d.CapacityType == "" || d.CapacityType == o.CapacityType)
	}) {
		return false
	}
	return !slices.ContainsFunc(in.Headroom, func(h model.Headroom) bool {
		return (h.Pools == nil || h.Pools[pool]) && h.Left < o.Price+in.Snapshot.NodeCost(pool)
	})
}

func coversAll(room, need model.Resources) bool {
	for name, amount := range need {
		if room[name] < amount {
			return false
		}
	}
	return true
}

func labelsOf(p *model.Pool, t *model.InstanceType, o *model.Offering) map[string]string {
	labels := maps.Clone(t.Labels)
	maps.Copy(labels, p.NodeLabels)
	labels[constraint.LabelZone], labels[constraint.LabelZoneID], labels[constraint.LabelCapacityType] = o.Zone, o.ZoneID, string(o.CapacityType)
	labels[constraint.LabelPool], labels[constraint.LabelHostname] = p.Name, "a new one"
	return labels
}

// fitsLabels says whether a node with the labels is one of the pool's, and one for the
// pod. A requirement of the pool on a label that nothing sets is not judged.
func fitsLabels(p *model.Pool, spec *model.PodSpec, labels map[string]string) bool {
	match := func(r model.Requirement) bool {
		v, ok := labels[r.Key]
		return r.Matches(v, ok)
	}
	for _, r := range p.Requirements {
		if _, ok := labels[r.Key]; !ok || r.MinValues > 0 || !match(r) {
			return false
		}
	}
	for k, v := range spec.NodeSelector {
		if labels[k] != v {
			return false
		}
	}
	return spec.Affinity == nil || slices.ContainsFunc(spec.Affinity, func(term model.Term) bool {
		return !slices.ContainsFunc(term, func(r model.Requirement) bool { return !match(r) })
	})
}

// TestNeedlesslyUnplaced: a plan that leaves out everything is found out on most clusters, and
// the solver's own is not, so that the properties cannot hold for nothing.
func TestNeedlesslyUnplaced(t *testing.T) {
	found, plain := 0, 0
	for seed := range uint64(60) {
		g := newGenerator(seed)
		in := g.input(1 + g.IntN(60))
		switch {
		case seed%2 == 1:
			g.Topology()
		case seed%4 == 2:
			g.policies(&in)
		}
		var nothing model.Plan
		for _, i := range in.Pods {
			nothing.Unplaced = append(nothing.Unplaced, model.Unplaced{Pod: i})
		}
		if len(needlesslyUnplaced(&in, &nothing)) > 0 {
			if found++; seed%2 == 0 {
				plain++
			}
		}
	}
	if t.Logf("%d of 60, %d of 30 without topology", found, plain); found < 25 || plain < 15 {
		t.Errorf("a plan of nothing is found out on %d of 60 clusters, %d of 30 without topology", found, plain)
	}
}
