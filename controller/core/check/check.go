package check

import (
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// Plan reports everything that is wrong with a plan for a snapshot. An empty
// result means that the plan can be applied. Equal input gives an equal result.
func Plan(s *model.Snapshot, plan *model.Plan, c Constraints) []Violation {
	p := newProof(s, plan, c)
	p.proveAccounting()
	for i := range plan.Existing {
		p.about(plan.Existing[i].Pods, func() { p.proveAssignment(i) })
	}
	for i := range plan.Nodes {
		p.about(plan.Nodes[i].Pods, func() { p.provePlannedNode(i) })
	}
	if hasPodTopology(s) {
		p.provePodTopology()
	}
	p.proveHeadroom()
	p.proveLimits()
	p.proveReservations()
	return slices.DeleteFunc(p.violations, func(v Violation) bool { return slices.Contains(c.Skip, v.Kind) })
}

// proof is one examination of a plan.
//
// Size: one method for each rule that a plan must keep.
type proof struct {
	snapshot *model.Snapshot
	plan     *model.Plan
	given    Constraints
	// replaced says of each pod of the snapshot whether the plan was asked to
	// place it. Such a pod takes no resources where it runs now.
	replaced map[int32]bool
	// launched holds what launchedAs has derived.
	launched map[launchChoice]*launchedNode
	// boundPods lists the pods that stay on each existing node, nil until asked for.
	boundPods  [][]int32
	violations []Violation
}

func newProof(s *model.Snapshot, plan *model.Plan, c Constraints) *proof {
	p := &proof{snapshot: s, plan: plan, given: c, replaced: make(map[int32]bool, len(c.Pods)), launched: map[launchChoice]*launchedNode{}}
	for _, i := range c.Pods {
		p.replaced[i] = true
	}
	return p
}

// about names the pods in the violations that prove finds.
func (p *proof) about(pods []int32, prove func()) {
	known := len(p.violations)
	prove()
	for i := range p.violations[known:] {
		p.violations[known+i].Pods = pods
	}
}

func (p *proof) reject(kind Kind, where, format string, args ...any) {
	p.violations = append(p.violations, Violation{Kind: kind, Where: where, Message: fmt.Sprintf(format, args...)})
}

// podAt is pod i of the snapshot, nil when there is no such pod or it has no spec.
func (p *proof) podAt(i int32) *model.Pod {
	if i < 0 || int(i) >= len(p.snapshot.Pods) {
		return nil
	}
	if of := p.snapshot.Pods[i].Spec; of < 0 || int(of) >= len(p.snapshot.Specs) {
		return nil
	}
	return &p.snapshot.Pods[i]
}

// specsForPods are the specs of pods, those that exist.
func (p *proof) specsForPods(pods []int32) []*model.PodSpec {
	out := make([]*model.PodSpec, 0, len(pods))
	for _, i := range pods {
		if pod := p.podAt(i); pod != nil {
			out = append(out, &p.snapshot.Specs[pod.Spec])
		}
	}
	return out
}

// poolAt is pool i of the snapshot, nil when there is no such pool.
func (p *proof) poolAt(i int32) *model.Pool {
	if i < 0 || int(i) >= len(p.snapshot.Pools) {
		return nil
	}
	return &p.snapshot.Pools[i]
}

// titleOf names a planned node in messages.
func (p *proof) titleOf(i int) string {
	if pool := p.poolAt(p.plan.Nodes[i].Pool); pool != nil {
		return fmt.Sprintf("node %d of pool %s", i, pool.Name)
	}
	return fmt.Sprintf("node %d", i)
}
