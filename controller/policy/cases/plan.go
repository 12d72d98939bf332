package cases

import (
	"fmt"
	"slices"
	"strings"
)

// checkPlan compares a decision with the expected plan. Node keys may contain * for
// any text. A node or pod that no entry matches is a failure.
func (v *verifier) checkPlan(got *Plan, fault string) {
	if !v.answers(fault, &answered{}) {
		return
	}
	want := v.c.expect.Plan
	if want == nil {
		return
	}
	before := len(v.failures)
	if want.Nodes != nil {
		v.nodes(want.Nodes, got.Nodes)
	}
	if want.HourlyCost != nil && !v.near(*want.HourlyCost, got.HourlyCost) {
		v.failf([]any{"plan", "hourlyCost"}, "hourly cost: want %s, got %s", number(*want.HourlyCost), number(got.HourlyCost))
	}
	v.unscheduled(want.Unscheduled, got.Unscheduled)
	v.removed(want, got)
	if len(v.failures) > before {
		v.failf([]any{"plan"}, "the plan is:\n%s", got.yaml())
	}
}

func (v *verifier) nodes(want, got map[string]int) {
	for _, pattern := range keys(want) {
		n := 0
		for key, count := range got {
			if like(pattern, key) {
				n += count
			}
		}
		if n != want[pattern] {
			v.failf([]any{"plan", "nodes", pattern}, "nodes %s: want %d, got %d", pattern, want[pattern], n)
		}
	}
	for _, key := range keys(got) {
		if !slices.ContainsFunc(keys(want), func(pattern string) bool { return like(pattern, key) }) {
			v.failf([]any{"plan", "nodes"}, "nodes %s: want 0, got %d", key, got[key])
		}
	}
}

func (v *verifier) unscheduled(want []unscheduledYAML, got map[string][]string) {
	met := map[string]bool{}
	for i, w := range want {
		n := 0
		for _, pod := range keys(got) {
			if !like(w.Pods, pod) {
				continue
			}
			n++
			met[pod] = true
			if w.Reason != "" && !slices.ContainsFunc(got[pod], func(reason string) bool { return like(w.Reason, reason) }) {
				v.failf([]any{"plan", "unscheduled", i}, "%s waits: want the reason %q, got %q", pod, w.Reason, strings.Join(got[pod], "; "))
			}
		}
		if w.Count != nil && n != *w.Count || w.Count == nil && n == 0 {
			v.failf([]any{"plan", "unscheduled", i}, "pods %s that wait: want %s, got %d", w.Pods, atLeast(w.Count), n)
		}
	}
	for _, pod := range keys(got) {
		if !met[pod] {
			v.failf([]any{"plan", "unscheduled"}, "%s waits: %s", pod, strings.Join(got[pod], "; "))
		}
	}
}

// removed compares the running nodes to be removed, and the reasons for keeping
// others.
func (v *verifier) removed(want *planYAML, got *Plan) {
	for _, pattern := range want.Removed {
		if !slices.ContainsFunc(got.Removed, func(node string) bool { return like(pattern, node) }) {
			v.failf([]any{"plan", "removed"}, "want node %s removed, it stays: %s", pattern, got.Kept[pattern])
		}
	}
	for _, node := range got.Removed {
		if want.Removed != nil && !slices.ContainsFunc(want.Removed, func(pattern string) bool { return like(pattern, node) }) {
			v.failf([]any{"plan", "removed"}, "node %s is removed", node)
		}
	}
	for _, node := range keys(want.Kept) {
		reason, kept := got.Kept[node]
		switch {
		case !kept:
			v.failf([]any{"plan", "kept", node}, "want node %s kept, it is removed, or could not go anyway", node)
		case !like(want.Kept[node], reason):
			v.failf([]any{"plan", "kept", node}, "node %s is kept: want %q, got %q", node, want.Kept[node], reason)
		}
	}
}

func atLeast(count *int) string {
	if count == nil {
		return "at least 1"
	}
	return fmt.Sprint(*count)
}

// yaml returns the plan in the form in which a case expects it.
func (p *Plan) yaml() string {
	var b strings.Builder
	b.WriteString("  plan:\n    nodes:\n")
	for _, key := range keys(p.Nodes) {
		fmt.Fprintf(&b, "      %s: %d\n", key, p.Nodes[key])
	}
	fmt.Fprintf(&b, "    hourlyCost: %s\n", number(p.HourlyCost))
	if len(p.Unscheduled) > 0 {
		b.WriteString("    unscheduled:\n")
	}
	for _, pod := range keys(p.Unscheduled) {
		fmt.Fprintf(&b, "      - {pods: %s, count: 1, reason: %q}\n", pod, strings.Join(p.Unscheduled[pod], "; "))
	}
	if len(p.Removed) > 0 {
		fmt.Fprintf(&b, "    removed: [%s]\n", strings.Join(p.Removed, ", "))
	}
	if len(p.Kept) > 0 {
		b.WriteString("    kept:\n")
	}
	for _, node := range keys(p.Kept) {
		fmt.Fprintf(&b, "      %s: %q\n", node, p.Kept[node])
	}
	return b.String()
}
