package constraint

import (
	"slices"
	"strconv"

	"spokeshave.dev/controller/core/model"
)

// ruleKind is what a rule asks of the number of pods that a group counts in the
// domain of the pod with the rule.
type ruleKind uint8

const (
	// HardSpread asks for no more than max above the least count of any domain
	// (topologySpreadConstraints, DoNotSchedule).
	HardSpread ruleKind = iota
	// AntiAffinity asks for at most max, which is 0 or, for pods that are counted
	// themselves, 1.
	AntiAffinity
	// Affinity asks for at least one; or none in any domain, for the first pod of those
	// that are counted themselves.
	Affinity
	// SoftSpread asks for what HardSpread does, but only prefers it (ScheduleAnyway).
	SoftSpread
)

// Rule is a topology constraint of a pod.
type Rule struct {
	Kind       ruleKind
	Group      int32
	Max        int32
	MinDomains int32
}

// Code is the reason code of pods that the rule leaves unplaced.
func (r *Rule) Code() model.ReasonCode {
	switch r.Kind {
	case AntiAffinity:
		return model.PodAntiAffinity
	case Affinity:
		return model.PodAffinity
	case HardSpread, SoftSpread:
	}
	return model.TopologySpread
}

func (r *Rule) sortKey() []int32 {
	return []int32{int32(r.Kind), r.Group, r.Max, r.MinDomains}
}

func compareRules(a, b Rule) int { return slices.Compare(a.sortKey(), b.sortKey()) }

// sortRules sorts the rules and drops duplicates.
func sortRules(rules *[]Rule) {
	slices.SortFunc(*rules, compareRules)
	*rules = slices.Compact(*rules)
}

// Terms are the topology constraints of equal pods, and the groups that
// count them.
type Terms struct {
	// DomainRules are the rules over labels other than the hostname, HostRules
	// those over the hostname. Both are sorted.
	DomainRules, HostRules []Rule
	// DomainGroups and HostGroups are the groups that count the pod, sorted. Terms
	// of a bundle have a group as often as it counts pods of the bundle.
	DomainGroups, HostGroups []int32
}

// IsCountedBy says whether the group counts the pod.
func (t *Terms) IsCountedBy(group int32) bool {
	_, ok := slices.BinarySearch(t.DomainGroups, group)
	if !ok {
		_, ok = slices.BinarySearch(t.HostGroups, group)
	}
	return ok
}

// Multiplicity is how many pods of the bundle the group counts: 0 or 1 for single
// pods.
func (t *Terms) Multiplicity(group int32) int32 {
	if at, ok := slices.BinarySearch(t.DomainGroups, group); ok {
		return LeadingRepeats(t.DomainGroups[at:])
	}
	if at, ok := slices.BinarySearch(t.HostGroups, group); ok {
		return LeadingRepeats(t.HostGroups[at:])
	}
	return 0
}

// LeadingRepeats is how often the first number of a sorted list is in it.
func LeadingRepeats(list []int32) int32 {
	n := int32(1)
	for int(n) < len(list) && list[n] == list[0] {
		n++
	}
	return n
}

// NeedsOthersOnHost says whether the pod has required affinity by hostname: others
// have to be on its node before it.
func (t *Terms) NeedsOthersOnHost() bool {
	return t != nil && slices.ContainsFunc(t.HostRules, func(r Rule) bool { return r.Kind == Affinity })
}

// Normalize sorts terms that were joined of the pods of a bundle, and says whether
// these pods may share a node and its domains.
func (t *Terms) Normalize() bool {
	slices.Sort(t.DomainGroups)
	slices.Sort(t.HostGroups)
	sortRules(&t.DomainRules)
	sortRules(&t.HostRules)
	tooMany := func(r Rule) bool {
		return (r.Kind == AntiAffinity || r.Kind == HardSpread) && t.Multiplicity(r.Group) > r.Max
	}
	return !slices.ContainsFunc(t.DomainRules, tooMany) && !slices.ContainsFunc(t.HostRules, tooMany)
}

// AppendKey appends the terms' text: equal terms have equal texts. nil terms have
// none.
func (t *Terms) AppendKey(b []byte) []byte {
	if t == nil {
		return b
	}
	for _, rules := range [][]Rule{t.DomainRules, t.HostRules} {
		for i := range rules {
			for _, n := range rules[i].sortKey() {
				b = strconv.AppendInt(append(b, ' '), int64(n), 36)
			}
		}
		b = append(b, '|')
	}
	for _, list := range [][]int32{t.DomainGroups, t.HostGroups} {
		for _, n := range list {
			b = strconv.AppendInt(append(b, ' '), int64(n), 36)
		}
		b = append(b, '|')
	}
	return b
}
