package solver

// packedRuleShare is the share of all pods that the rules of a per-host group may
// bind before packing has to know the group; up to it, the assignment of pods to
// the nodes of a packing keeps the rules. It applies to more than smallPodCount
// pods: below, every group is packed. Found by trial on the scenarios of
// generate_test.go and BenchmarkSolve: a larger share leaves pods without a node
// that the packing has room for, a smaller one multiplies the items.
const (
	packedRuleShare = 0.01
	smallPodCount   = 300
)

// podTerms are the terms of a number of equal pods.
type podTerms struct {
	terms *topologyTerms
	pods  int
}

// selectPacked decides which per-host groups packing has to know: those whose
// rules bind a large share of the pods. It sets packed of every group.
func (t *topologyGroups) selectPacked(all []podTerms) {
	// By group, pods: that exclude their own kind, that exclude others, that the
	// group counts.
	self, owners, counted := make([]int, len(t.groups)), make([]int, len(t.groups)), make([]int, len(t.groups))
	total := 0
	for i := range all {
		terms, n := all[i].terms, all[i].pods
		total += n
		if terms == nil {
			continue
		}
		for _, g := range terms.hostGroups {
			counted[g] += n
		}
		for j := range terms.hostRules {
			r := &terms.hostRules[j]
			switch {
			case r.kind == affinity:
			case terms.isCountedBy(r.group):
				self[r.group] += n
			case r.kind == antiAffinity:
				owners[r.group] += n
			}
		}
	}
	least := int(packedRuleShare * float64(total))
	if total <= smallPodCount {
		least = 0
	}
	for g := range t.groups {
		t.groups[g].packed = t.groups[g].perHost && self[g]+min(owners[g], counted[g]) > least
	}
}

// packedTerms are the terms that belong to packed groups, nil when there are none.
// Affinity does not belong to them: it excludes nobody.
func (t *topologyGroups) packedTerms(all *topologyTerms) *topologyTerms {
	if all == nil {
		return nil
	}
	out := &topologyTerms{}
	for _, r := range all.hostRules {
		if r.kind != affinity && t.groups[r.group].packed {
			out.hostRules = append(out.hostRules, r)
		}
	}
	for _, g := range all.hostGroups {
		if t.groups[g].packed {
			out.hostGroups = append(out.hostGroups, g)
		}
	}
	if len(out.hostRules)+len(out.hostGroups) == 0 {
		return nil
	}
	return out
}
