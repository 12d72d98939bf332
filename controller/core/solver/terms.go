package solver

import (
	"slices"
	"strconv"
)

// ruleKind is what a rule asks of the number of pods that a group counts in the
// domain of the pod with the rule.
type ruleKind uint8

const (
	// hardSpread: no more than max above the least count of any domain
	// (topologySpreadConstraints, DoNotSchedule).
	hardSpread ruleKind = iota
	// antiAffinity: at most max, which is 0 or, for pods that are counted
	// themselves, 1.
	antiAffinity
	// affinity: at least one; or none in any domain, for the first pod of those
	// that are counted themselves.
	affinity
	// softSpread: as hardSpread, but only preferred (ScheduleAnyway).
	softSpread
)

// rule is a topology constraint of a pod.
type rule struct {
	kind       ruleKind
	group      int32
	max        int32
	minDomains int32
}

func (r *rule) sortKey() []int32 {
	return []int32{int32(r.kind), r.group, r.max, r.minDomains}
}

func compareRules(a, b rule) int { return slices.Compare(a.sortKey(), b.sortKey()) }

// sortRules sorts the rules and drops duplicates.
func sortRules(rules *[]rule) {
	slices.SortFunc(*rules, compareRules)
	*rules = slices.Compact(*rules)
}

// topologyTerms are the topology constraints of equal pods, and the groups that
// count them.
type topologyTerms struct {
	// domainRules are the rules over labels other than the hostname, hostRules
	// those over the hostname. Both are sorted.
	domainRules, hostRules []rule
	// domainGroups and hostGroups are the groups that count the pod, sorted. Terms
	// of a bundle have a group as often as it counts pods of the bundle.
	domainGroups, hostGroups []int32
}

// isCountedBy says whether the group counts the pod.
func (t *topologyTerms) isCountedBy(group int32) bool {
	_, ok := slices.BinarySearch(t.domainGroups, group)
	if !ok {
		_, ok = slices.BinarySearch(t.hostGroups, group)
	}
	return ok
}

// multiplicity is how many pods of the bundle the group counts: 0 or 1 for single
// pods.
func (t *topologyTerms) multiplicity(group int32) int32 {
	if at, ok := slices.BinarySearch(t.domainGroups, group); ok {
		return leadingRepeats(t.domainGroups[at:])
	}
	if at, ok := slices.BinarySearch(t.hostGroups, group); ok {
		return leadingRepeats(t.hostGroups[at:])
	}
	return 0
}

// leadingRepeats is how often the first number of a sorted list is in it.
func leadingRepeats(list []int32) int32 {
	n := int32(1)
	for int(n) < len(list) && list[n] == list[0] {
		n++
	}
	return n
}

// needsOthersOnHost says whether the pod has required affinity by hostname: others
// have to be on its node before it.
func (t *topologyTerms) needsOthersOnHost() bool {
	return t != nil && slices.ContainsFunc(t.hostRules, func(r rule) bool { return r.kind == affinity })
}

// normalize sorts terms that were joined of the pods of a bundle, and says whether
// these pods may share a node and its domains.
func (t *topologyTerms) normalize() bool {
	slices.Sort(t.domainGroups)
	slices.Sort(t.hostGroups)
	sortRules(&t.domainRules)
	sortRules(&t.hostRules)
	tooMany := func(r rule) bool {
		return (r.kind == antiAffinity || r.kind == hardSpread) && t.multiplicity(r.group) > r.max
	}
	return !slices.ContainsFunc(t.domainRules, tooMany) && !slices.ContainsFunc(t.hostRules, tooMany)
}

// appendKey appends the terms' text: equal terms have equal texts. nil terms have
// none.
func (t *topologyTerms) appendKey(b []byte) []byte {
	if t == nil {
		return b
	}
	for _, rules := range [][]rule{t.domainRules, t.hostRules} {
		for i := range rules {
			for _, n := range rules[i].sortKey() {
				b = strconv.AppendInt(append(b, ' '), int64(n), 36)
			}
		}
		b = append(b, '|')
	}
	for _, list := range [][]int32{t.domainGroups, t.hostGroups} {
		for _, n := range list {
			b = strconv.AppendInt(append(b, ' '), int64(n), 36)
		}
		b = append(b, '|')
	}
	return b
}
