package check

import (
	"cmp"
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// hasPodTopology says whether any pod has a rule about other pods.
func hasPodTopology(s *model.Snapshot) bool {
	return slices.ContainsFunc(s.Specs, func(pod model.PodSpec) bool {
		return len(pod.Spread)+len(pod.PodAffinity)+len(pod.PodAntiAffinity) > 0
	})
}

// provePodTopology proves the rules between pods: topology spread, inter-pod
// affinity and anti-affinity.
func (p *proof) provePodTopology() {
	before := len(p.violations)
	e := p.newEndState()
	e.proveSpread()
	e.proveAntiAffinity()
	e.proveAffinity()
	slices.SortStableFunc(p.violations[before:], func(a, b Violation) int { return cmp.Compare(a.String(), b.String()) })
}

// endState is the cluster as the plan leaves it: first the existing nodes, then
// the planned ones, each with all its pods.
type endState struct {
	proof *proof
	nodes []endNode
	// domainsByKey holds what domainSets has derived, by topology key and node.
	domainsByKey map[string][]possibleDomains
	podSelectors selectorIndex
}

// endNode is a node of the end state.
type endNode struct {
	name string
	// outcomes are the labels with which the node may come up: those of an
	// existing node, or those of each option of a planned one.
	outcomes []*labelView
	taints   []model.Taint
	// disappearing says that the node is being deleted: it and its pods may be
	// gone at any moment.
	disappearing bool
	pods         []endPod
}

// endPod is a pod on a node of the end state.
type endPod struct {
	spec int32
	// fromPlan says that the plan puts the pod there.
	fromPlan bool
	// terminating pods do not count for topology spread.
	terminating bool
}

func (p *proof) newEndState() *endState {
	e := &endState{proof: p, domainsByKey: map[string][]possibleDomains{}, podSelectors: newSelectorIndex(p.snapshot.Specs)}
	for i := range p.snapshot.Nodes {
		n := &p.snapshot.Nodes[i]
		labels := p.labelsOf(n)
		at := endNode{name: n.Name, outcomes: []*labelView{&labels}, taints: p.lastingTaints(n), disappearing: n.State == model.Deleting}
		at.add(p, p.podsStaying(int32(i)), false)
		e.nodes = append(e.nodes, at)
	}
	for i := range p.plan.Existing {
		if a := &p.plan.Existing[i]; a.Node >= 0 && int(a.Node) < len(p.snapshot.Nodes) {
			e.nodes[a.Node].add(p, a.Pods, true)
		}
	}
	for i := range p.plan.Nodes {
		n := &p.plan.Nodes[i]
		at := endNode{name: p.titleOf(i)}
		if pool := p.poolAt(n.Pool); pool != nil {
			at.taints = pool.Taints
		}
		picked := picksOf(n)
		for k := range n.Options {
			if node := p.launchedAs(n, picked, &n.Options[k]); node.defect == "" {
				at.outcomes = append(at.outcomes, &node.labels)
			}
		}
		at.add(p, n.Pods, true)
		e.nodes = append(e.nodes, at)
	}
	return e
}

func (n *endNode) add(p *proof, pods []int32, fromPlan bool) {
	for _, i := range pods {
		if pod := p.podAt(i); pod != nil {
			n.pods = append(n.pods, endPod{spec: pod.Spec, fromPlan: fromPlan, terminating: pod.Ending && !fromPlan})
		}
	}
}

// plannedSpecs lists the specs of the pods that the plan puts on the node, each once.
func (n *endNode) plannedSpecs() []int32 {
	var out []int32
	for i := range n.pods {
		if pod := &n.pods[i]; pod.fromPlan && !slices.Contains(out, pod.spec) {
			out = append(out, pod.spec)
		}
	}
	return out
}

// possibleDomains are the domains of a topology key in which a node may be.
type possibleDomains struct {
	values []string
	// mayLackLabel says that the node may come up without the label: it is then in
	// no domain.
	mayLackLabel bool
}

// certainDomain is the domain that the node is in whatever happens.
func (d *possibleDomains) certainDomain() (value string, certain bool) {
	if len(d.values) == 1 && !d.mayLackLabel {
		return d.values[0], true
	}
	return "", false
}

// domainSets are, for every node, the values that its label may have.
func (e *endState) domainSets(key string) []possibleDomains {
	all, ok := e.domainsByKey[key]
	if ok {
		return all
	}
	all = make([]possibleDomains, len(e.nodes))
	for i := range e.nodes {
		d := &all[i]
		for _, labels := range e.nodes[i].outcomes {
			value, present := e.domainIn(i, labels, key)
			if !present {
				d.mayLackLabel = true
			} else if !slices.Contains(d.values, value) {
				d.values = append(d.values, value)
			}
		}
	}
	e.domainsByKey[key] = all
	return all
}

// domainIn is the domain of node i if it comes up with these labels. The hostname
// of a planned node is a value that no other node has.
func (e *endState) domainIn(i int, labels *labelView, key string) (value string, present bool) {
	if key == hostnameKey && labels.unnamed {
		return fmt.Sprintf("of planned node %d", i), true
	}
	value, present = labels.values[key]
	return value, present
}
