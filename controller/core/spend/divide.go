package spend

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// whole is the weight of an entire node, in millionths.
const whole = 1_000_000

// space is what divide needs to know of a node.
type space struct {
	allocatable model.Resources
	// tainted is set when taints of the NodePool keep ordinary pods off.
	tainted bool
}

func spaceOf(s *model.Snapshot, n *model.Node) space { return space{n.Allocatable, tainted(s, n.Pool)} }

// tainted reports whether the NodePool's taints keep pods without tolerations off its
// nodes.
func tainted(s *model.Snapshot, pool int32) bool {
	return pool >= 0 && slices.ContainsFunc(s.Pools[pool].Taints, func(t model.Taint) bool { return t.Effect != model.PreferNoSchedule })
}

// division is how some pods divide a node, in millionths of total.
type division struct {
	// parts are indexed like the pods. They and idle add up to total, which is whole,
	// or more where the pods request more than the node has.
	parts []int64
	// rest is what no pod requests, and idle what of it no pod keeps others from using.
	rest, idle, total int64
}

// divide divides a node among the pods on it. It is the one rule by which namespaces
// are charged (docs/spend.md derives it).
//
// A pod weighs the largest of its requests as a share of the node. What is left of the
// node belongs to the namespaces that keep others from using it: those with a
// restrictive pod on the node, in equal parts, and within a namespace in equal parts to
// those pods. Without such pods it is idle.
func divide(s *model.Snapshot, on space, pods []int32) division {
	d := division{parts: make([]int64, len(pods))}
	var liable []int // indexes of the restrictive pods
	for k, i := range pods {
		p := &s.Pods[i]
		d.parts[k] = dominant(s.Specs[p.Spec].Requests, on.allocatable)
		d.total += d.parts[k]
		if restrictive(s, p, on) {
			liable = append(liable, k)
		}
	}
	if d.total >= whole {
		return d
	}
	d.rest, d.idle, d.total = whole-d.total, whole-d.total, whole
	if len(liable) == 0 {
		return d
	}
	slices.SortStableFunc(liable, func(a, b int) int { return cmp.Compare(s.Pods[pods[a]].Namespace, s.Pods[pods[b]].Namespace) })
	var groups [][]int
	for i, k := range liable {
		if i == 0 || s.Pods[pods[k]].Namespace != s.Pods[pods[liable[i-1]]].Namespace {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], k)
	}
	for g, each := range evenly(d.idle, len(groups)) {
		for i, part := range evenly(each, len(groups[g])) {
			d.parts[groups[g][i]] += part
		}
	}
	d.idle = 0
	return d
}

// evenly divides a sum into n parts that differ by at most one, the larger ones first.
func evenly(sum int64, n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = sum / int64(n)
		if int64(i) < sum%int64(n) {
			out[i]++
		}
	}
	return out
}

// dominant returns the largest share that the requests take of any resource, in
// millionths. Pod slots and volumes count where the node states how many it takes.
func dominant(requests, allocatable model.Resources) int64 {
	most := int64(0)
	for name, want := range requests {
		have := allocatable[name]
		switch {
		case want <= 0, have <= 0 && (name == model.PodSlots || model.CountsVolumes(name)):
		case have <= 0 || want >= have:
			most = whole
		default:
			most = max(most, int64(float64(want)/float64(have)*whole))
		}
	}
	return most
}

// shared reports whether many nodes have each value of the label in common: to name one
// asks for no particular node.
func shared(key string) bool {
	switch key {
	case "topology.kubernetes.io/zone", "topology.k8s.aws/zone-id", "topology.kubernetes.io/region",
		"karpenter.sh/capacity-type", "kubernetes.io/arch", "kubernetes.io/os":
		return true
	}
	return false
}

// restrictive reports whether the pod keeps others from using the rest of its node, or
// may need a node that ordinary pods would not need. Preferences count where plans
// respect them. Pods of DaemonSets, which every node has, and placeholders of static pools
// are never restrictive.
func restrictive(s *model.Snapshot, p *model.Pod, on space) bool {
	spec := &s.Specs[p.Spec]
	switch {
	case p.Daemon, spec.HoldsPlace():
		return false
	case on.tainted, p.DoNotDisrupt, len(spec.HostPorts) > 0, len(spec.PodAntiAffinity) > 0, particular(spec):
		return true
	}
	wishes := !s.Settings.IgnorePreferences
	return wishes && (len(spec.PreferredApart) > 0 || slices.ContainsFunc(spec.Preferred, func(t model.WeightedTerm) bool { return names(t.Term) })) ||
		slices.ContainsFunc(spec.Spread, func(x model.Spread) bool { return !shared(x.Key) && (!x.Soft || wishes) })
}

// particular reports whether the pod requires nodes with labels other than the shared
// ones. The place of its volumes does not count.
func particular(spec *model.PodSpec) bool {
	for key := range spec.NodeSelector {
		if !shared(key) {
			return true
		}
	}
	terms := spec.Affinity
	if spec.Pinned {
		terms = spec.OwnAffinity
	}
	return slices.ContainsFunc(terms, names)
}

// names reports whether a term has a requirement on a label other than the shared ones.
func names(t model.Term) bool {
	return slices.ContainsFunc(t, func(r model.Requirement) bool { return !shared(r.Key) })
}
