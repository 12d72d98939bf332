package check

import (
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// proveAffinity proves required pod affinity (Assigning Pods to Nodes, "Inter-pod
// affinity and anti-affinity", and "Scheduling a group of pods with inter-pod
// affinity to themselves") by replaying the scheduler: it reports the pods of the
// plan that no order of binding binds.
func (e *endState) proveAffinity() {
	r := newReplay(e)
	if len(r.bindQueue) == 0 {
		return
	}
	type cause struct {
		node int
		spec int32
	}
	reported := map[cause]bool{}
	for _, i := range r.neverBound() {
		pod := &r.bindQueue[i]
		if at := (cause{pod.node, pod.spec}); !reported[at] {
			reported[at] = true
			e.proof.reject(Affinity, e.nodes[pod.node].name, "no order of binding satisfies the affinity of a pod of namespace %s", e.proof.snapshot.Specs[pod.spec].Namespace)
		}
	}
}

// presence is the fact that a pod which all terms of an affinity select is bound
// in a domain of a topology key, or, where the key is empty, on a node. A pod that
// only some of the terms select counts for none of them.
type presence struct {
	affinityNumber   int
	key, domainValue string
	node             int
}

// queuedPod is a pod with required pod affinity that the plan places.
type queuedPod struct {
	node           int
	spec           int32
	affinityNumber int
	// neededFacts number the facts that must all hold before the pod is bound,
	// whichever way its node comes up. sameNodeFact alone is enough, too.
	neededFacts  []int
	sameNodeFact int
	// mayLackLabel says that the node may lack the topology key of a term. The
	// pod can then not be bound at all.
	mayLackLabel bool
	// selectsItself says that the pod's terms select it.
	selectsItself bool
}

// replay is what stays the same while the scheduler is replayed.
type replay struct {
	finalState *endState
	// affinityTerms are the different pod affinities of the queue, queuedWith the
	// pods of the queue that have each.
	affinityTerms [][]model.PodTerm
	queuedWith    [][]int
	bindQueue     []queuedPod
	// factNumbers numbers the facts that a pod of the queue needs, and neededBy
	// lists, by that number, the pods that do.
	factNumbers map[presence]int
	neededBy    [][]int
	// selecting are the affinities that select a spec, once asked for.
	selecting map[int32][]int
}

func newReplay(e *endState) *replay {
	r := &replay{finalState: e, factNumbers: map[presence]int{}, selecting: map[int32][]int{}}
	numbers := map[string]int{}
	ofSpec := map[int32]int{}
	for i := range e.nodes {
		for _, pod := range e.nodes[i].pods {
			terms := e.proof.snapshot.Specs[pod.spec].PodAffinity
			if !pod.fromPlan || len(terms) == 0 {
				continue
			}
			number, known := ofSpec[pod.spec]
			if !known {
				text := fmt.Sprint(terms)
				if number, known = numbers[text]; !known {
					number = len(r.affinityTerms)
					numbers[text] = number
					r.affinityTerms, r.queuedWith = append(r.affinityTerms, terms), append(r.queuedWith, nil)
				}
				ofSpec[pod.spec] = number
			}
			r.queuePod(i, pod.spec, number)
		}
	}
	for i := range r.bindQueue {
		r.bindQueue[i].selectsItself = slices.Contains(r.affinitiesOf(r.bindQueue[i].spec), r.bindQueue[i].affinityNumber)
	}
	return r
}

func (r *replay) queuePod(node int, spec int32, affinity int) {
	i := len(r.bindQueue)
	pod := queuedPod{node: node, spec: spec, affinityNumber: affinity}
	need := func(fact presence) int {
		number, known := r.factNumbers[fact]
		if !known {
			number = len(r.neededBy)
			r.factNumbers[fact] = number
			r.neededBy = append(r.neededBy, nil)
		}
		r.neededBy[number] = append(r.neededBy[number], i)
		return number
	}
	terms := r.affinityTerms[affinity]
	for k := range terms {
		at := &r.finalState.domainSets(terms[k].Key)[node]
		pod.mayLackLabel = pod.mayLackLabel || at.mayLackLabel || len(at.values) == 0
		for _, domain := range at.values {
			pod.neededFacts = append(pod.neededFacts, need(presence{affinityNumber: affinity, key: terms[k].Key, domainValue: domain}))
		}
	}
	pod.sameNodeFact = need(presence{affinityNumber: affinity, node: node})
	r.queuedWith[affinity] = append(r.queuedWith[affinity], i)
	r.bindQueue = append(r.bindQueue, pod)
}

// affinitiesOf are the affinities of which all terms select pods of the spec.
func (r *replay) affinitiesOf(spec int32) []int {
	out, known := r.selecting[spec]
	if known {
		return out
	}
	for number, terms := range r.affinityTerms {
		all := true
		for k := range terms {
			all = all && r.finalState.podSelectors.selectsSpec(&terms[k].Selector, spec)
		}
		if all {
			out = append(out, number)
		}
	}
	r.selecting[spec] = out
	return out
}
