package check

import (
	"fmt"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// Refusal is why existing nodes do not take a pod.
type Refusal struct {
	Why string `json:"why"`
	// Nodes is for how many it holds, Example names one of them.
	Nodes   int    `json:"nodes"`
	Example string `json:"example"`
}

// Rooms judges the nodes of a snapshot as a plan leaves them: with the pods that
// it adds to them.
type Rooms struct {
	v     verifier
	there []resident
	memo  map[int32][]Refusal
}

// resident is a node with what runs on it, or is to.
type resident struct {
	labels labelSet
	taints []model.Taint
	used   model.Resources
	ports  [][]model.HostPort
}

// NewRooms looks at every node once.
func NewRooms(s *model.Snapshot, plan *model.Plan) *Rooms {
	r := &Rooms{v: verifier{s: s, plan: plan, moving: map[int32]bool{}}, memo: map[int32][]Refusal{}}
	added := map[int32][]int32{}
	for i := range plan.Existing {
		added[plan.Existing[i].Node] = plan.Existing[i].Pods
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		at := resident{labels: r.v.nodeLabels(n), taints: r.v.lasting(n)}
		at.used, at.ports = r.v.residents(int32(i), at.labels, at.taints)
		for _, spec := range r.v.specs(added[int32(i)]) {
			demand(at.used, spec)
			at.ports = append(at.ports, spec.HostPorts)
		}
		r.there = append(r.there, at)
	}
	return r
}

// Refusals says of every node why it does not take a pod, which is an index of
// Snapshot.Pods; those refused for the same stand together, most first.
func (r *Rooms) Refusals(pod int32) []Refusal {
	if r.v.pod(pod) == nil {
		return nil
	}
	of := r.v.s.Pods[pod].Spec
	if out, ok := r.memo[of]; ok {
		return out
	}
	spec := &r.v.s.Specs[of]
	need := model.Resources{}
	demand(need, spec)
	at := map[string]int{}
	var out []Refusal
	for i := range r.there {
		why := r.why(i, spec, need)
		k, seen := at[why]
		if !seen {
			k = len(out)
			at[why] = k
			out = append(out, Refusal{Why: why, Example: r.v.s.Nodes[i].Name})
		}
		out[k].Nodes++
	}
	slices.SortStableFunc(out, func(a, b Refusal) int { return b.Nodes - a.Nodes })
	r.memo[of] = out
	return out
}

// why is the first thing that keeps a pod off a node.
func (r *Rooms) why(node int, spec *model.PodSpec, need model.Resources) string {
	n, at := &r.v.s.Nodes[node], &r.there[node]
	switch taint, kept := repels(at.taints, spec); {
	case n.State == model.Deleting:
		return "on its way out"
	case n.NotReady:
		return "not ready"
	case kept:
		return fmt.Sprintf("taint %s:%s is not tolerated", taint.Key, taint.Effect)
	case !at.labels.admits(spec):
		return "not what the pod's selector or affinity asks for"
	}
	var short []string
	for name, amount := range need {
		if amount > 0 && at.used[name]+amount > n.Allocatable[name] {
			short = append(short, name)
		}
	}
	if slices.Sort(short); len(short) > 0 {
		return "not enough " + strings.Join(short, ", ") + " left"
	}
	for _, ports := range at.ports {
		if collide(spec.HostPorts, ports) {
			return "the host port is taken"
		}
	}
	return "there is room for it alone: topology spread, affinity between pods, or a disruption under way keeps it off"
}
