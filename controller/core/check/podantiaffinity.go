package check

import "spokeshave.dev/controller/core/model"

// headcount is how many pods of a spec may be in a domain.
type headcount struct {
	all, placedNow int
}

// proveAntiAffinity proves required anti-affinity (Assigning Pods to Nodes,
// "Inter-pod affinity and anti-affinity"): no pod that a term selects is in the
// domain of the pod that has the term. It binds both ways: the term of a pod that
// runs keeps a pod of the plan out. What breaks among the pods that run already
// is not the plan's doing.
func (e *endState) proveAntiAffinity() {
	keys := map[string]bool{}
	for i := range e.nodes {
		for _, pod := range e.nodes[i].pods {
			for _, t := range e.proof.snapshot.Specs[pod.spec].PodAntiAffinity {
				keys[t.Key] = true
			}
		}
	}
	for key := range keys {
		for domain, present := range e.population(key) {
			for of := range present {
				e.proveTermsKept(key, of, domain, present)
			}
		}
	}
}

// proveTermsKept proves the terms over one key that a spec with pods in a domain has.
func (e *endState) proveTermsKept(key string, of int32, domain string, present map[int32]headcount) {
	terms := e.proof.snapshot.Specs[of].PodAntiAffinity
	for k := range terms {
		if terms[k].Key == key {
			e.proveTermKept(of, &terms[k], domain, present)
		}
	}
}

// population counts the pods that may be in each domain of a topology key, by spec.
func (e *endState) population(key string) map[string]map[int32]headcount {
	out := map[string]map[int32]headcount{}
	for i, at := range e.domainSets(key) {
		for _, domain := range at.values {
			present := out[domain]
			if present == nil {
				present = map[int32]headcount{}
				out[domain] = present
			}
			for _, pod := range e.nodes[i].pods {
				n := present[pod.spec]
				n.all++
				if pod.fromPlan {
					n.placedNow++
				}
				present[pod.spec] = n
			}
		}
	}
	return out
}

// proveTermKept proves that no pod which the term of a spec selects is in the domain
// beside a pod of the spec, unless both ran there before.
func (e *endState) proveTermKept(of int32, t *model.PodTerm, domain string, present map[int32]headcount) {
	holders := present[of]
	for other, n := range present {
		if other == of && n.all == 1 || !e.podSelectors.selectsSpec(&t.Selector, other) {
			continue
		}
		switch {
		case holders.placedNow > 0:
			e.rejectAntiAffinity(of, t.Key, domain, "a pod of namespace %s is in %s=%s with pods that its anti-affinity selects")
			return // one violation a term and domain is enough
		case n.placedNow > 0:
			e.rejectAntiAffinity(other, t.Key, domain, "a pod of namespace %s is in %s=%s with a pod that runs there, whose anti-affinity selects it")
		}
	}
}

// rejectAntiAffinity reports the nodes of a domain to which the plan adds pods of a spec.
func (e *endState) rejectAntiAffinity(spec int32, key, domain, format string) {
	for i, at := range e.domainSets(key) {
		for _, value := range at.values {
			for _, of := range e.nodes[i].plannedSpecs() {
				if value == domain && of == spec {
					e.proof.reject(AntiAffinity, e.nodes[i].name, format, e.proof.snapshot.Specs[spec].Namespace, key, domain)
				}
			}
		}
	}
}
