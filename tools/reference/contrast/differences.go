package contrast

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/model"
)

// differences names what is not the same in our view and the reference's, of which the
// part that breaks no rule is compared. violations are the rules that the rest broke.
func differences(s *model.Snapshot, violations []check.Violation, a, b *view, r *Result) []Difference {
	var out []Difference
	add := func(k Kind, format string, args ...any) {
		out = append(out, Difference{k, fmt.Sprintf(format, args...)})
	}
	if len(violations) > 0 {
		add(Invalid, "%s, the first of %d", violations[0], len(violations))
	}
	only := placedOnly(a, b)
	urgent := urgency(a, b)
	switch {
	case urgent < 0:
		add(Missed, "%d of %d against %d: %s", r.Ours.Placed, r.Asked, r.Theirs.Placed, only)
	case r.Theirs.Placed > r.Ours.Placed:
		add(Urgent, "%d of %d against %d, and more of the most urgent: %s", r.Ours.Placed, r.Asked, r.Theirs.Placed, only)
	case r.Ours.Placed > r.Theirs.Placed:
		add(More, "%d of %d against %d: %s", r.Ours.Placed, r.Asked, r.Theirs.Placed, refusal(a, b.plan))
	}
	if only != "" && r.Ours.Placed >= r.Theirs.Placed {
		add(Exchanged, "%s", only)
	}
	if r.Ours.Placed != r.Theirs.Placed || only != "" || len(violations) > 0 {
		return out // the rest compares plans for the same pods
	}
	switch {
	case r.Ours.Preferences < r.Theirs.Preferences:
		add(FewerPreferences, "%d against %d", r.Ours.Preferences, r.Theirs.Preferences)
	case r.Ours.Preferences > r.Theirs.Preferences:
		add(MorePreferences, "%d against %d", r.Ours.Preferences, r.Theirs.Preferences)
	}
	if d := divided(s, a, b); d != "" {
		add(Domains, "%s", d)
	}
	if r.Ours.USD > r.Theirs.USD+1e-6 {
		add(Dearer, "%.4f against %.4f USD/hour", r.Ours.USD, r.Theirs.USD)
	}
	return out
}

// refusal is what the reference says of the first pod that only we place.
func refusal(ours *view, theirs *model.Plan) string {
	const most = 200
	for i := range theirs.Unplaced {
		u := &theirs.Unplaced[i]
		if ours.placed(u.Pod) {
			why := u.Reasons[0].Message
			return why[:min(len(why), most)]
		}
	}
	return ""
}

// urgency compares how many pods of the highest priority are placed, then of the next:
// it is above 0 when our plan places more, below 0 when the reference's does.
func urgency(a, b *view) int {
	more := map[int32]int{}
	for _, pod := range a.asked {
		if a.placed(pod) {
			more[a.spec(pod).Priority]++
		}
		if b.placed(pod) {
			more[a.spec(pod).Priority]--
		}
	}
	for _, priority := range slices.Backward(slices.Sorted(maps.Keys(more))) {
		if more[priority] != 0 {
			return more[priority]
		}
	}
	return 0
}

// placedOnly names the specs of which the reference places more pods, "" for none.
// Pods of one spec stand for each other.
func placedOnly(a, b *view) string {
	more := map[int32]int{}
	for _, pod := range a.asked {
		if b.placed(pod) {
			more[a.s.Pods[pod].Spec]++
		}
		if a.placed(pod) {
			more[a.s.Pods[pod].Spec]--
		}
	}
	var out []string
	for _, spec := range slices.Sorted(maps.Keys(more)) {
		if n := more[spec]; n > 0 {
			out = append(out, fmt.Sprintf("%d of spec %d", n, spec))
		}
	}
	return strings.Join(out, ", ")
}

// divided says where the pods of required constraints are divided in other numbers.
func divided(s *model.Snapshot, a, b *view) string {
	seen := map[string]bool{}
	var out []string
	ask := func(key string, sel *model.PodSelector) {
		id := fmt.Sprint(key, *sel)
		if seen[id] || len(out) > 3 {
			return
		}
		seen[id] = true
		if x, y := sorted(a.counts(key, sel)), sorted(b.counts(key, sel)); !slices.Equal(x, y) {
			out = append(out, fmt.Sprintf("%s: %v against %v", key, x, y))
		}
	}
	for _, pod := range a.asked {
		p := a.spec(pod)
		for i := range p.Spread {
			ask(p.Spread[i].Key, &p.Spread[i].Selector)
		}
		for i := range p.PodAffinity {
			ask(p.PodAffinity[i].Key, &p.PodAffinity[i].Selector)
		}
		for i := range p.PodAntiAffinity {
			ask(p.PodAntiAffinity[i].Key, &p.PodAntiAffinity[i].Selector)
		}
	}
	return strings.Join(out, "; ")
}

// sorted are the counts that are not 0.
func sorted(counts map[string]int) []int {
	var out []int
	for _, n := range counts {
		if n > 0 {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}
