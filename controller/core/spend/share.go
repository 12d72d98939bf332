package spend

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// Holder identifies who uses a share of a node.
type Holder struct {
	// Kind is Workload for pods, Daemon for all pods of DaemonSets together, Idle
	// for the part of a node that no pod requests.
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
// it is in flight, among the holders that use it. A pod's weight is the largest of
// its requests as a share of the node's allocatable (its dominant resource). The
// rest of the node is idle. When the weights exceed the node, they are scaled down
// to it. A pod that is to move counts on the node it leaves; a pod planned for a
// node in flight counts there. The shares of a node add up to its price exactly. The
// result is indexed like Snapshot.Nodes.
func Shares(s *model.Snapshot) [][]Share {
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
	out := make([][]Share, len(s.Nodes))
	for i := range s.Nodes {
		if n := &s.Nodes[i]; managed(n) {
			out[i] = split(max(n.Cost(), n.Reserved), weigh(s, n.Allocatable, pods[i]))
		}
	}
	return out
}

// PodShares returns the highest share that each pod may have of the hourly price of
// a node launched for them, rounded up. Only the pods of the same namespace reduce a
// pod's share, since pods of other namespaces may run elsewhere. pods index
// Snapshot.Pods, and the result is indexed like pods.
func PodShares(s *model.Snapshot, price model.Price, allocatable model.Resources, pods []int32) []model.Price {
	parts, total := make([]int64, len(pods)), map[string]int64{}
	for i, p := range pods {
		parts[i] = dominant(s.Specs[s.Pods[p].Spec].Requests, allocatable)
		total[s.Pods[p].Namespace] += parts[i]
	}
	out := make([]model.Price, len(pods))
	for i, p := range pods {
		out[i] = up(price, parts[i], max(total[s.Pods[p].Namespace], whole))
	}
	return out
}

// Share is one holder's part of a node's hourly price.
type Share struct {
	Holder
	Price model.Price
}

// whole is the weight of an entire node, in millionths.
const whole = 1_000_000

type weight struct {
	Holder
	parts int64
}

// weigh returns the weight of each holder in millionths, Idle included, sorted by
// holder.
func weigh(s *model.Snapshot, allocatable model.Resources, pods []int32) []weight {
	var out []weight
	total := int64(0)
	for _, i := range pods {
		p := &s.Pods[i]
		w := weight{Holder: holder(p), parts: dominant(s.Specs[p.Spec].Requests, allocatable)}
		total += w.parts
		out = append(out, w)
	}
	if total < whole {
		out = append(out, weight{Holder: Holder{Kind: Idle}, parts: whole - total})
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

// dominant returns the largest share that the requests take of any resource, in
// millionths. Pod slots and volume counts are left out.
func dominant(requests, allocatable model.Resources) int64 {
	most := int64(0)
	for name, want := range requests {
		have := allocatable[name]
		switch {
		case name == model.PodSlots || want <= 0 || model.CountsVolumes(name):
		case have <= 0 || want >= have:
			most = whole
		default:
			most = max(most, int64(float64(want)/float64(have)*whole))
		}
	}
	return most
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
