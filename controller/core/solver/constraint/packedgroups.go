package constraint

// packedRuleShare is the share of all pods that the rules of a per-host group may
// bind before packing has to know the group; up to it, the assignment of pods to
// the nodes of a packing keeps the rules. It applies to more than smallPodCount
// pods: below, every group is packed. A larger share leaves more to the assignment,
// which may find no node for a pod; a smaller one multiplies the items. Half
// the share cost 1.6 % and 47 % more time, twice the share nothing; half and twice the
// number of pods change no plan (docs/measurements/solver.md).
const (
	packedRuleShare = 0.01
	smallPodCount   = 300
)

// PodTerms are the terms of a number of equal pods.
type PodTerms struct {
	Terms *Terms
	Pods  int
}

// SelectPacked decides which per-host groups packing has to know: those whose
// rules bind a large share of the pods. It sets packed of every group.
func (t *Groups) SelectPacked(all []PodTerms) {
	// By group, pods: that exclude their own kind, that exclude others, that the
	// group counts.
	self, owners, counted := make([]int, len(t.All)), make([]int, len(t.All)), make([]int, len(t.All))
	total := 0
	for i := range all {
		terms, n := all[i].Terms, all[i].Pods
		total += n
		if terms == nil {
			continue
		}
		for _, g := range terms.HostGroups {
			counted[g] += n
		}
		for j := range terms.HostRules {
			r := &terms.HostRules[j]
			switch {
			case r.Kind == Affinity:
			case terms.IsCountedBy(r.Group):
				self[r.Group] += n
			case r.Kind == AntiAffinity:
				owners[r.Group] += n
			}
		}
	}
	least := int(packedRuleShare * float64(total))
	if total <= smallPodCount {
		least = 0
	}
	for g := range t.All {
		t.All[g].Packed = t.All[g].PerHost && self[g]+min(owners[g], counted[g]) > least
	}
}

// PackedTerms are the terms that belong to packed groups, nil when there are none.
// Affinity does not belong to them: it excludes nobody.
func (t *Groups) PackedTerms(all *Terms) *Terms {
	if all == nil {
		return nil
	}
	out := &Terms{}
	for _, r := range all.HostRules {
		if r.Kind != Affinity && t.All[r.Group].Packed {
			out.HostRules = append(out.HostRules, r)
		}
	}
	for _, g := range all.HostGroups {
		if t.All[g].Packed {
			out.HostGroups = append(out.HostGroups, g)
		}
	}
	if len(out.HostRules)+len(out.HostGroups) == 0 {
		return nil
	}
	return out
}
