package check

import (
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// selectorIndex remembers which specs each pod selector matches.
type selectorIndex struct {
	specs          []model.PodSpec
	matchesByText  map[string][]int8
	matchesByEntry map[*model.PodSelector][]int8
}

func newSelectorIndex(specs []model.PodSpec) selectorIndex {
	return selectorIndex{specs: specs, matchesByText: map[string][]int8{}, matchesByEntry: map[*model.PodSelector][]int8{}}
}

// selectsSpec says whether the selector matches pods of a spec.
func (x *selectorIndex) selectsSpec(s *model.PodSelector, spec int32) bool {
	known, ok := x.matchesByEntry[s]
	if !ok {
		text := fmt.Sprint(*s)
		if known, ok = x.matchesByText[text]; !ok {
			known = make([]int8, len(x.specs))
			x.matchesByText[text] = known
		}
		x.matchesByEntry[s] = known
	}
	if known[spec] == 0 {
		known[spec] = -1
		if selectorMatches(s, &x.specs[spec]) {
			known[spec] = 1
		}
	}
	return known[spec] > 0
}

// selectorMatches evaluates a label selector within its namespaces (Labels and
// Selectors, "Label selectors"; Assigning Pods to Nodes, "Namespace selector"). All
// expressions must hold, no expression at all matches every pod of the
// namespaces, and an absent selector matches none. The snapshot has namespace
// selectors resolved, and matchLabelKeys and mismatchLabelKeys merged.
func selectorMatches(s *model.PodSelector, pod *model.PodSpec) bool {
	if s.Nothing || !slices.Contains(s.Namespaces, pod.Namespace) {
		return false
	}
	labels := labelView{values: pod.Labels}
	for i := range s.Labels {
		if !labels.meetsExpression(&s.Labels[i]) {
			return false
		}
	}
	return true
}
