package contrast

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// differences names what is not the same in our view and the reference's.
func differences(s *model.Snapshot, pods []int32, theirs *model.Plan, a, b *view, r *Result) []Difference {
	var out []Difference
	add := func(k Kind, format string, args ...any) {
		out = append(out, Difference{k, fmt.Sprintf(format, args...)})
	}
	violations := broken(s, pods, theirs)
	if len(violations) > 0 {
		add(Invalid, "%d, the first: %s", len(violations), violations[0])
	}
	only := placedOnly(a, b)
	switch {
	case r.Theirs.Placed > r.Ours.Placed && len(violations) == 0:
		add(Missed, "%d of %d against %d: %s", r.Ours.Placed, r.Asked, r.Theirs.Placed, only)
	case r.Ours.Placed > r.Theirs.Placed:
		add(More, "%d of %d against %d", r.Ours.Placed, r.Asked, r.Theirs.Placed)
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
