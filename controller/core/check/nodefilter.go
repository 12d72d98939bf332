package check

import (
	"fmt"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// Refusal is a reason why existing nodes do not take a pod.
type Refusal struct {
	Why string `json:"why"`
	// Nodes is how many nodes have the reason, Example the name of one of them.
	Nodes   int    `json:"nodes"`
	Example string `json:"example"`
}

// NodeFilter says why the existing nodes of a snapshot do not take a pod once a
// plan has added its pods to them. It is for one goroutine.
type NodeFilter struct {
	proof          *proof
	nodes          []filteredNode
	refusalsBySpec map[int32][]Refusal // by spec
}

// filteredNode is a node with what the pods on it use.
type filteredNode struct {
	labels     labelView
	taints     []model.Taint
	podUse     model.Resources
	portsInUse [][]model.HostPort
}

// NewNodeFilter looks at every node once. Neither the snapshot nor the plan may be
// changed afterwards.
func NewNodeFilter(s *model.Snapshot, plan *model.Plan) *NodeFilter {
	f := &NodeFilter{proof: newProof(s, plan, Constraints{}), refusalsBySpec: map[int32][]Refusal{}}
	added := map[int32][]int32{}
	for i := range plan.Existing {
		added[plan.Existing[i].Node] = plan.Existing[i].Pods
	}
	for i := range s.Nodes {
		n := filteredNode{labels: f.proof.labelsOf(&s.Nodes[i]), taints: f.proof.lastingTaints(&s.Nodes[i])}
		n.podUse, n.portsInUse = f.proof.usedOn(int32(i), &n.labels, n.taints)
		for _, pod := range f.proof.specsForPods(added[int32(i)]) {
			addRequests(n.podUse, pod)
			n.portsInUse = append(n.portsInUse, pod.HostPorts)
		}
		f.nodes = append(f.nodes, n)
	}
	return f
}

// Refusals says of every node why it does not take a pod, which is an index of
// Snapshot.Pods. Nodes with the same reason are counted together; the most
// frequent reason comes first.
func (f *NodeFilter) Refusals(pod int32) []Refusal {
	at := f.proof.podAt(pod)
	if at == nil {
		return nil
	}
	if out, ok := f.refusalsBySpec[at.Spec]; ok {
		return out
	}
	spec := &f.proof.snapshot.Specs[at.Spec]
	need := useOf([]*model.PodSpec{spec})
	index := map[string]int{}
	var out []Refusal
	for i := range f.nodes {
		why := f.firstReason(i, spec, need)
		k, seen := index[why]
		if !seen {
			k = len(out)
			index[why] = k
			out = append(out, Refusal{Why: why, Example: f.proof.snapshot.Nodes[i].Name})
		}
		out[k].Nodes++
	}
	slices.SortStableFunc(out, func(a, b Refusal) int { return b.Nodes - a.Nodes })
	f.refusalsBySpec[at.Spec] = out
	return out
}

// firstReason is the first thing that keeps a pod off a node.
func (f *NodeFilter) firstReason(node int, spec *model.PodSpec, need model.Resources) string {
	n, at := &f.proof.snapshot.Nodes[node], &f.nodes[node]
	taint := untoleratedBy(spec, at.taints)
	switch {
	case n.State == model.Deleting:
		return "being deleted"
	case n.NotReady:
		return "not ready"
	case taint != nil:
		return fmt.Sprintf("taint %s:%s is not tolerated", taint.Key, taint.Effect)
	case !at.labels.selectedBy(spec):
		return "not what the pod's selector or affinity asks for"
	}
	var short []string
	for name, n1 := range need {
		if n1 > 0 && at.podUse[name]+n1 > n.Allocatable[name] {
			short = append(short, name)
		}
	}
	if slices.Sort(short); len(short) > 0 {
		return "not enough " + strings.Join(short, ", ") + " left"
	}
	for _, portsInUse := range at.portsInUse {
		if portsOverlap(spec.HostPorts, portsInUse) {
			return "the host port is taken"
		}
	}
	return "enough resources are free; topology spread, affinity between pods, or a disruption in progress keeps the pod off"
}
