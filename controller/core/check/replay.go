package check

import "slices"

// maxReplays bounds how many states of the cluster a proof looks at. One is
// enough for nearly every correct plan: more are needed where several first pods
// of groups exclude each other, and the bound ends the search among these.
const maxReplays = 1000

// clusterState is a moment of the replay: which pods of the queue are bound, and
// which facts hold because of all the pods that are.
type clusterState struct {
	bound     []bool
	unbound   int
	factsHold []bool
	// selectedAnywhere says by affinity that a pod which it selects is bound anywhere.
	selectedAnywhere []bool
}

func (c *clusterState) copied() *clusterState {
	return &clusterState{bound: slices.Clone(c.bound), unbound: c.unbound, factsHold: slices.Clone(c.factsHold), selectedAnywhere: slices.Clone(c.selectedAnywhere)}
}

// boundText tells states apart by who is bound.
func (c *clusterState) boundText() string {
	text := make([]byte, len(c.bound))
	for i, bound := range c.bound {
		if bound {
			text[i] = 1
		}
	}
	return string(text)
}

// bindEffects are what a binding changed, so that it can be taken back.
type bindEffects struct {
	pods, factsHold, affinities []int
}

func (c *clusterState) takeBack(d *bindEffects) {
	for _, i := range d.pods {
		c.bound[i] = false
	}
	for _, i := range d.factsHold {
		c.factsHold[i] = false
	}
	for _, i := range d.affinities {
		c.selectedAnywhere[i] = false
	}
	c.unbound += len(d.pods)
}

// neverBound lists the pods of the queue that the best order found leaves unbound.
//
// It binds the pods that need nobody, and then whoever mayBind. That rule is
// monotone: what it allows once stays allowed, so that the order is irrelevant.
// The rule for the first pod of a group, mayStartGroup, is not: it is lost when a pod
// that the group's terms select is bound elsewhere. A first pod whose binding
// takes this chance from no waiting pod is bound at once; among the others, the
// search tries one after another.
func (r *replay) neverBound() []int {
	best := r.tryFirstPods(r.started())
	var out []int
	for i, bound := range best.bound {
		if !bound {
			out = append(out, i)
		}
	}
	return out
}

// started is the state in which the pods that need nobody are bound, and all that
// may be bound after them.
func (r *replay) started() *clusterState {
	start := &clusterState{
		bound: make([]bool, len(r.bindQueue)), unbound: len(r.bindQueue),
		factsHold: make([]bool, len(r.neededBy)), selectedAnywhere: make([]bool, len(r.affinityTerms)),
	}
	for i := range r.finalState.nodes {
		for _, pod := range r.finalState.nodes[i].pods {
			if !pod.fromPlan || len(r.finalState.proof.snapshot.Specs[pod.spec].PodAffinity) == 0 {
				r.noteBound(start, i, pod.spec, &bindEffects{})
			}
		}
	}
	for i := range r.bindQueue {
		if !start.bound[i] && r.mayBind(start, i) {
			r.bindPod(start, i)
		}
	}
	return start
}

// tryFirstPods tries one first pod after another from a state on, and returns the state
// with fewest unbound pods among the at most maxReplays that it looks at.
func (r *replay) tryFirstPods(start *clusterState) *clusterState {
	best, seen := start, map[string]bool{}
	for states := []*clusterState{start}; len(states) > 0 && best.unbound > 0 && len(seen) < maxReplays; {
		state := states[len(states)-1]
		states = states[:len(states)-1]
		choices := r.bindFirstPods(state)
		if state.unbound < best.unbound {
			best = state
		}
		key := state.boundText()
		if seen[key] {
			continue
		}
		seen[key] = true
		for _, i := range slices.Backward(choices) {
			next := state.copied()
			r.bindPod(next, i)
			states = append(states, next)
		}
	}
	return best
}

// mayBind says whether the scheduler would bind pod i of the queue to its node now:
// for every term, a pod that all terms select is bound in the node's domain. On the
// same node it is, whatever domain that turns out to be in.
func (r *replay) mayBind(c *clusterState, i int) bool {
	pod := &r.bindQueue[i]
	if pod.mayLackLabel {
		return false
	}
	return c.factsHold[pod.sameNodeFact] || !slices.ContainsFunc(pod.neededFacts, func(fact int) bool { return !c.factsHold[fact] })
}

// mayStartGroup says whether the scheduler would bind pod i of the queue now although
// nobody is there that it needs: its terms select the pod itself, they select no
// pod that is bound anywhere, and its node has all their topology keys.
func (r *replay) mayStartGroup(c *clusterState, i int) bool {
	pod := &r.bindQueue[i]
	return !pod.mayLackLabel && pod.selectsItself && !c.selectedAnywhere[pod.affinityNumber]
}

// bind binds pod i of the queue, and then every pod that may be bound after it.
func (r *replay) bindPod(c *clusterState, i int) *bindEffects {
	d := &bindEffects{}
	for next := []int{i}; len(next) > 0; {
		i, next = next[0], next[1:]
		if c.bound[i] {
			continue
		}
		c.bound[i] = true
		c.unbound--
		d.pods = append(d.pods, i)
		known := len(d.factsHold)
		r.noteBound(c, r.bindQueue[i].node, r.bindQueue[i].spec, d)
		for _, fact := range d.factsHold[known:] {
			for _, k := range r.neededBy[fact] {
				if !c.bound[k] && r.mayBind(c, k) {
					next = append(next, k)
				}
			}
		}
	}
	return d
}

// observe notes what a bound pod makes true. A node that may be in several domains
// is in none for certain, and a pod on a node that is being deleted may be gone:
// nobody can rely on either, but both prevent a first pod. A node without the
// topology key of any term is in no domain, and its pods are not found at all.
func (r *replay) noteBound(c *clusterState, node int, spec int32, d *bindEffects) {
	staying := !r.finalState.nodes[node].disappearing
	note := func(fact presence) {
		if number, needed := r.factNumbers[fact]; needed && staying && !c.factsHold[number] {
			c.factsHold[number] = true
			d.factsHold = append(d.factsHold, number)
		}
	}
	for _, affinity := range r.affinitiesOf(spec) {
		note(presence{affinityNumber: affinity, node: node})
		terms := r.affinityTerms[affinity]
		for k := range terms {
			at := &r.finalState.domainSets(terms[k].Key)[node]
			if len(at.values) > 0 && !c.selectedAnywhere[affinity] {
				c.selectedAnywhere[affinity] = true
				d.affinities = append(d.affinities, affinity)
			}
			if domain, certain := at.certainDomain(); certain {
				note(presence{affinityNumber: affinity, key: terms[k].Key, domainValue: domain})
			}
		}
	}
}

// bindFirstPods binds the first pods that cost no waiting pod the same chance, with
// all that may be bound after them, and lists the others: the search has to choose
// among these.
func (r *replay) bindFirstPods(c *clusterState) (choices []int) {
	for progress := true; progress; {
		progress, choices = false, nil
		for i := range r.bindQueue {
			if c.bound[i] || !r.mayStartGroup(c, i) {
				continue
			}
			d := r.bindPod(c, i)
			if r.costsNobody(c, d) {
				progress = true
				continue
			}
			c.takeBack(d)
			choices = append(choices, i)
		}
	}
	return r.distinctChoices(choices)
}

// costsNobody says whether no pod that waits could have been first before the
// changes and cannot be any more.
func (r *replay) costsNobody(c *clusterState, d *bindEffects) bool {
	for _, affinity := range d.affinities {
		for _, i := range r.queuedWith[affinity] {
			if pod := &r.bindQueue[i]; !c.bound[i] && pod.selectsItself && !pod.mayLackLabel {
				return false
			}
		}
	}
	return true
}

// different leaves one of several first pods that are equal: same spec, same node.
func (r *replay) distinctChoices(choices []int) []int {
	type kind struct {
		node int
		spec int32
	}
	seen := map[kind]bool{}
	return slices.DeleteFunc(choices, func(i int) bool {
		key := kind{r.bindQueue[i].node, r.bindQueue[i].spec}
		again := seen[key]
		seen[key] = true
		return again
	})
}
