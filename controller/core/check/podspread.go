package check

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// matchBounds bound how many matching pods the domains of a topology spread
// constraint have, whichever way the planned nodes come up.
type matchBounds struct {
	// atMost is by domain.
	atMost map[string]int
	// globalMinimum is the least number that any eligible domain may have.
	globalMinimum int
}

// proveSpread proves the constraints with whenUnsatisfiable: DoNotSchedule (Pod
// Topology Spread Constraints, "Spread constraint definition"): for each pod that
// the plan places, the matching pods of its domain exceed the global minimum by
// maxSkew at most.
func (e *endState) proveSpread() {
	known := map[string]*matchBounds{}
	byConstraint := map[*model.Spread]*matchBounds{}
	for i := range e.nodes {
		n := &e.nodes[i]
		for _, of := range n.plannedSpecs() {
			spec := &e.proof.snapshot.Specs[of]
			for k := range spec.Spread {
				c := &spec.Spread[k]
				if c.Soft {
					continue
				}
				bounds := byConstraint[c]
				if bounds == nil {
					text := spreadText(spec, c)
					if bounds = known[text]; bounds == nil {
						bounds = e.boundsOf(spec, c)
						known[text] = bounds
					}
					byConstraint[c] = bounds
				}
				e.proveSkew(i, spec, c, bounds)
			}
		}
	}
}

// proveSkew proves one constraint of the pods of a spec on node i.
func (e *endState) proveSkew(i int, spec *model.PodSpec, c *model.Spread, bounds *matchBounds) {
	n, at := &e.nodes[i], &e.domainSets(c.Key)[i]
	if at.mayLackLabel || len(at.values) == 0 {
		e.proof.reject(Spread, n.name, "the node may have no label %s, over which a pod of namespace %s is spread", c.Key, spec.Namespace)
	}
	for _, domain := range at.values {
		if skew := bounds.atMost[domain] - bounds.globalMinimum; skew > int(c.MaxSkew) {
			e.proof.reject(Spread, n.name, "%s=%s would have up to %d pods where the minimum is %d: more than maxSkew %d of a pod of namespace %s",
				c.Key, domain, bounds.atMost[domain], bounds.globalMinimum, c.MaxSkew, spec.Namespace)
		}
	}
}

// boundsOf counts node by node. Pods that are terminating do not count. With fewer
// eligible domains than minDomains the global minimum is 0 ("minDomains").
func (e *endState) boundsOf(spec *model.PodSpec, c *model.Spread) *matchBounds {
	out := &matchBounds{atMost: map[string]int{}}
	// A domain that exists for certain has the pods that are certain to be in
	// it at least, any other those of the one node that makes it exist.
	certain, possible := map[string]int{}, map[string]int{}
	for i := range e.nodes {
		n := &e.nodes[i]
		pods := e.matchingPods(n, &c.Selector)
		domainSets, always := e.eligibleDomains(i, spec, c)
		for _, domain := range domainSets {
			out.atMost[domain] += pods
		}
		if len(domainSets) == 1 && always {
			certain[domainSets[0]] += pods
			continue
		}
		if n.disappearing {
			pods = 0
		}
		for _, domain := range domainSets {
			if least, seen := possible[domain]; !seen || pods < least {
				possible[domain] = pods
			}
		}
	}
	out.globalMinimum = math.MaxInt
	for _, pods := range certain {
		out.globalMinimum = min(out.globalMinimum, pods)
	}
	for domain, pods := range possible {
		if _, exists := certain[domain]; !exists {
			out.globalMinimum = min(out.globalMinimum, pods)
		}
	}
	if len(certain) < int(c.MinDomains) || len(out.atMost) == 0 {
		out.globalMinimum = 0
	}
	return out
}

func (e *endState) matchingPods(n *endNode, s *model.PodSelector) int {
	count := 0
	for i := range n.pods {
		if pod := &n.pods[i]; !pod.terminating && e.podSelectors.selectsSpec(s, pod.spec) {
			count++
		}
	}
	return count
}

// eligibleDomains are the domains in which the scheduler may count node i. It
// counts only nodes that have the topology keys of all the pod's constraints
// ("Conventions"), that meet the pod's node affinity and selector unless
// nodeAffinityPolicy is Ignore, and whose taints it tolerates if nodeTaintsPolicy
// is Honor. always says that the node counts, whichever way it comes up.
func (e *endState) eligibleDomains(i int, spec *model.PodSpec, c *model.Spread) (domainSets []string, always bool) {
	n := &e.nodes[i]
	if c.HonorTaints && slices.ContainsFunc(n.taints, func(t model.Taint) bool { // a taint of a simulation is none for the scheduler
		return t.Effect != model.NoPlacement && untoleratedBy(spec, []model.Taint{t}) != nil
	}) {
		return nil, false
	}
	affinity := spec.Affinity
	if spec.Pinned { // where its volumes are is no affinity of the pod's
		affinity = spec.OwnAffinity
	}
	always = !n.disappearing && len(n.outcomes) > 0
	seen := map[string]bool{}
	for _, labels := range n.outcomes {
		eligible := c.IgnoreAffinity || labels.eligibleFor(spec.NodeSelector, affinity)
		for k := range spec.Spread {
			if other := &spec.Spread[k]; !other.Soft && eligible {
				_, eligible = e.domainIn(i, labels, other.Key)
			}
		}
		if !eligible {
			always = false
			continue
		}
		if domain, present := e.domainIn(i, labels, c.Key); present && !seen[domain] {
			seen[domain] = true
			domainSets = append(domainSets, domain)
		}
	}
	return domainSets, always
}

// spreadText is equal for constraints that count the same pods on the same nodes.
func spreadText(spec *model.PodSpec, c *model.Spread) string {
	var text strings.Builder
	fmt.Fprint(&text, c.Key, " ", c.MinDomains, c.Selector, c.IgnoreAffinity, c.HonorTaints)
	for k := range spec.Spread {
		if other := &spec.Spread[k]; !other.Soft && other.Key != c.Key {
			fmt.Fprint(&text, " ", other.Key)
		}
	}
	if !c.IgnoreAffinity {
		affinity := spec.Affinity
		if spec.Pinned {
			affinity = spec.OwnAffinity
		}
		fmt.Fprint(&text, spec.NodeSelector, affinity)
	}
	if c.HonorTaints {
		fmt.Fprint(&text, spec.Tolerations)
	}
	return text.String()
}
