package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/record/explain"
)

// waitingView writes which pods wait.
type waitingView struct{ *view }

// together are pods that wait for the same reasons.
type together struct {
	pods    []string
	reasons []model.Reason
}

// named is how many pods that wait for the same reasons are named, reasonGroups how many
// groups are shown, and reasonsShown how many reasons of each: there is one for every
// NodePool.
const (
	named        = 12
	reasonGroups = 30
	reasonsShown = 8
)

// waitingPods returns the pods that wait now and match the filter, grouped by their
// reasons, the largest group first, and how many there are.
func (v waitingView) waitingPods() (groups []together, pods int) {
	at, wanted := map[string]int{}, v.wanted()
	for i := range v.state.Decision.Plan.Unplaced {
		u := &v.state.Decision.Plan.Unplaced[i]
		p := &v.snapshot.Pods[u.Pod]
		if v.at.Namespace != "" && p.Namespace != v.at.Namespace || v.at.Pod != "" && p.Key() != v.at.Pod || !ofPool(u.Reasons, v.at.Pool) {
			continue
		}
		key := keyOf(u.Reasons)
		if !has(p.Key(), wanted) && !has(key, wanted) {
			continue
		}
		pods++
		k, known := at[key]
		if !known {
			k = len(groups)
			at[key] = k
			groups = append(groups, together{reasons: u.Reasons})
		}
		groups[k].pods = append(groups[k].pods, p.Key())
	}
	slices.SortStableFunc(groups, func(a, b together) int { return cmp.Compare(len(b.pods), len(a.pods)) })
	return groups, pods
}

func ofPool(reasons []model.Reason, pool string) bool {
	return pool == "" || slices.ContainsFunc(reasons, func(r model.Reason) bool { return r.Pool == pool })
}

// keyOf is equal for reasons that look the same on the page.
func keyOf(reasons []model.Reason) string {
	var out strings.Builder
	for i := range reasons[:min(len(reasons), reasonsShown)] {
		out.WriteString(reasons[i].Pool)
		out.WriteByte('\n')
		out.WriteString(reasons[i].Message)
		out.WriteByte('\n')
	}
	return out.String()
}

// waiting writes which pods wait, why, and what would help.
func (v waitingView) waiting() {
	var namespaces []string
	for i := range v.state.Decision.Plan.Unplaced {
		namespaces = append(namespaces, v.snapshot.Pods[v.state.Decision.Plan.Unplaced[i].Pod].Namespace)
	}
	slices.Sort(namespaces)
	v.filter(v.at, field{name: "q", label: "Pod or reason contains", value: v.at.Query},
		field{name: "namespace", label: "Namespace", value: v.at.Namespace, options: names(slices.Compact(namespaces))},
		field{name: "pool", label: "NodePool", value: v.at.Pool, options: names(v.poolNames())})
	groups, pods := v.waitingPods()
	if pods == 0 {
		v.nobodyWaits()
		return
	}
	v.section("reasons", several(pods, "pod")+" for "+several(len(groups), "reason"), func() {
		v.reasons(groups[:min(len(groups), reasonGroups)], named)
		if more := len(groups) - reasonGroups; more > 0 {
			v.text("%s more, each with fewer pods: the filter finds them.", several(more, "reason"))
		}
	})
}

func (v waitingView) nobodyWaits() {
	if len(v.state.Decision.Plan.Unplaced) == 0 {
		v.text("Every pod has a place.")
		return
	}
	v.text("No pod that waits matches the filter.")
}

func (s *summary) poolNames() []string {
	var out []string
	for i := range s.snapshot.Pools {
		out = append(out, s.snapshot.Pools[i].Name)
	}
	slices.Sort(out)
	return out
}

// reasons writes groups of pods with why they wait and what would help. most is how many
// pods of each are named.
func (v waitingView) reasons(groups []together, most int) {
	for i := range groups {
		g := &groups[i]
		v.put("<article class=\"reason\">\n<h3>%s</h3>\n<p class=\"pods\">", several(len(g.pods), "pod"))
		for k, pod := range g.pods[:min(len(g.pods), most)] {
			if k > 0 {
				v.put(", ")
			}
			v.item("pod", pod)
		}
		if more := len(g.pods) - most; more > 0 {
			v.put(" and %s more", fmt.Sprint(more))
		}
		v.put("</p>\n<dl>")
		for k := range g.reasons[:min(len(g.reasons), reasonsShown)] {
			v.reason(&g.reasons[k])
		}
		v.put("</dl>\n")
		if more := len(g.reasons) - reasonsShown; more > 0 {
			v.text("%s more, of other NodePools: the command prints all.", several(more, "reason"))
		}
		v.command("pod", g.pods[0])
		v.put("</article>\n")
	}
}

// reason writes one reason and what would have to change.
func (v waitingView) reason(r *model.Reason) {
	v.put("<dt>")
	if r.Pool != "" {
		v.put("NodePool ")
		v.item("nodepool", r.Pool)
		v.put(": ")
	}
	v.put("%s</dt>", r.Message)
	if remedy := explain.Remedy(r, v.state.Decision.Headroom); remedy != "" {
		v.put("<dd><span class=\"label\">What would help</span> %s</dd>", remedy)
	}
}
