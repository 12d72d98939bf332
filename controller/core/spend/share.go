package spend

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// Holder identifies who uses a share of a node.
type Holder struct {
	// Kind is Workload for pods, Daemon for all pods of DaemonSets together, Idle
	// for the part of a node that no pod requests and none keeps others from using.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	// Workload is "Deployment/web", "Job/nightly", or "Pod/name" for a pod
	// without an owner.
	Workload string `json:"workload,omitempty"`
}

// The kinds of holders.
const (
	Workload = "workload"
	Daemon   = "daemonset"
	Idle     = "idle"
)

// Shares splits each managed node's hourly price, or the price reserved for it while
// it is in flight, among the holders that use it, by the rule of divide. A pod that is
// to move counts on the node it leaves; a pod planned for a node in flight counts
// there. The shares of a node add up to its price exactly. The result is indexed like
// Snapshot.Nodes.
func Shares(s *model.Snapshot) [][]Share {
	pods, out := charged(s), make([][]Share, len(s.Nodes))
	for i := range s.Nodes {
		if n := &s.Nodes[i]; managed(n) {
			out[i] = split(max(n.Cost(), n.Reserved), weigh(s, divide(s, spaceOf(s, n), pods[i]), pods[i]))
		}
	}
	return out
}

// Use is a node's hourly price, or the price reserved for it while it is in flight, and
// the part of it that pods request, without what they keep others from using.
type Use struct{ Price, Requested model.Price }

// Uses returns the use of each managed node, indexed like Snapshot.Nodes; the zero value
// for other nodes.
func Uses(s *model.Snapshot) []Use {
	pods, out := charged(s), make([]Use, len(s.Nodes))
	for i := range s.Nodes {
		if n := &s.Nodes[i]; managed(n) {
			d, price := divide(s, spaceOf(s, n), pods[i]), max(n.Cost(), n.Reserved)
			out[i] = Use{Price: price, Requested: portion(price, d.total-d.rest, d.total)}
		}
	}
	return out
}

// charged returns by managed node the pods that are charged for it.
func charged(s *model.Snapshot) [][]int32 {
	pods, left := make([][]int32, len(s.Nodes)), map[int32]int32{}
	for _, m := range s.Moves {
		if m.From >= 0 {
			left[m.Pod] = m.From
		}
	}
	for i := range s.Pods {
		at := s.Pods[i].Node
		if from, moves := left[int32(i)]; moves {
			at = from
		}
		if at >= 0 && int(at) < len(s.Nodes) && managed(&s.Nodes[at]) {
			pods[at] = append(pods[at], int32(i))
		}
	}
	return pods
}

// PodShares returns the highest share that each pod may have of the hourly price of
// a node of the NodePool launched for them, rounded up. Only the pods of the same
// namespace reduce a pod's share, since pods of other namespaces may run elsewhere.
// pods index Snapshot.Pods, and the result is indexed like pods.
func PodShares(s *model.Snapshot, pool int32, price model.Price, allocatable model.Resources, pods []int32) []model.Price {
	out, on := make([]model.Price, len(pods)), space{allocatable, tainted(s, pool)}
	done := make([]bool, len(pods))
	for i, p := range pods {
		if done[i] {
			continue
		}
		var own, at []int32
		for j := i; j < len(pods); j++ {
			if !done[j] && s.Pods[pods[j]].Namespace == s.Pods[p].Namespace {
				own, at = append(own, pods[j]), append(at, int32(j))
			}
		}
		d := divide(s, on, own)
		for k, j := range at {
			out[j], done[j] = up(price, d.parts[k], d.total), true
		}
	}
	return out
}

// Share is one holder's part of a node's hourly price.
type Share struct {
	Holder
	Price model.Price
}

type weight struct {
	Holder
	parts int64
}

// weigh returns the weight of each holder in millionths, Idle included, sorted by
// holder. d is how the pods divide their node.
func weigh(s *model.Snapshot, d division, pods []int32) []weight {
	out := make([]weight, 0, len(pods)+1)
	for k, i := range pods {
		out = append(out, weight{Holder: holder(&s.Pods[i]), parts: d.parts[k]})
	}
	if d.idle > 0 {
		out = append(out, weight{Holder: Holder{Kind: Idle}, parts: d.idle})
	}
	slices.SortStableFunc(out, func(a, b weight) int { return compare(a.Holder, b.Holder) })
	return joined(out)
}

func joined(in []weight) []weight {
	out := in[:0]
	for _, w := range in {
		if n := len(out); n > 0 && out[n-1].Holder == w.Holder {
			out[n-1].parts += w.parts
		} else {
			out = append(out, w)
		}
	}
	return out
}

func holder(p *model.Pod) Holder {
	if p.Daemon {
		return Holder{Kind: Daemon}
	}
	return Holder{Kind: Workload, Namespace: p.Namespace, Workload: cmp.Or(p.Workload, "Pod/"+p.Name)}
}

func compare(a, b Holder) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Workload, b.Workload))
}

// split divides the price by weight, in whole micro-dollars. The remainder goes to
// the first holders, one micro-dollar each.
func split(price model.Price, by []weight) []Share {
	total := int64(0)
	for i := range by {
		total += by[i].parts
	}
	if total == 0 {
		return nil
	}
	out := make([]Share, 0, len(by))
	left := price
	for i := range by {
		part := portion(price, by[i].parts, total)
		left -= part
		out = append(out, Share{Holder: by[i].Holder, Price: part})
	}
	for i := 0; left > 0; i = (i + 1) % len(out) {
		out[i].Price++
		left--
	}
	return out
}
