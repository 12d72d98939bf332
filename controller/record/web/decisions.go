package web

import (
	"fmt"
	"slices"
	"strings"

	"spokeshave.dev/controller/record/explain"
	"spokeshave.dev/controller/record/journal"
)

const (
	// actionsShown is how many actions of a decision the list shows, actionsMost how many
	// the decision's own view does, and actionsBrief the overview.
	actionsShown = 6
	actionsMost  = 300
	actionsBrief = 2
	// whysShown is for how many launches of a decision the reasons are shown.
	whysShown = 50
	// decisionsPage is how many decisions a page of the list has.
	decisionsPage = 20
)

// decisionsView writes what changed and why.
type decisionsView struct{ *view }

// found is a decision with the actions that match the filter.
type found struct {
	entry   *journal.Entry
	actions []action
	// count is how many actions match; actions are the first of them.
	count int
}

// search returns those of the decisions that match the filter, latest first, with at most
// most actions each.
func (v decisionsView) search(entries []journal.Entry, most int) []found {
	wanted := v.wanted()
	var out []found
	for i := range slices.Backward(entries) {
		f := found{entry: &entries[i]}
		for a := range actions(f.entry) {
			if !v.at.shows(&a, wanted) {
				continue
			}
			if f.count++; f.count <= most {
				f.actions = append(f.actions, a)
			}
		}
		if f.count > 0 || wanted != "" && strings.HasPrefix(f.entry.ID, wanted) {
			out = append(out, f)
		}
	}
	return out
}

// decisions writes what changed and why.
func (v decisionsView) decisions() {
	v.filter(v.at, field{name: "q", label: "Text", value: v.at.Query}, field{name: "kind", label: "Kind", value: v.at.Kind, options: kinds()},
		field{name: "pod", label: "Pod", value: v.at.Pod}, field{name: "node", label: "Node", value: v.at.Node},
		field{name: "pool", label: "NodePool", value: v.at.Pool, options: names(v.poolNames())})
	all := v.search(v.entries, actionsShown)
	if len(all) == 0 {
		if v.at.filtered() {
			v.text("No decision that is kept matches.")
			return
		}
		v.text("Nothing has been decided yet.")
		return
	}
	pages := (len(all) + decisionsPage - 1) / decisionsPage
	page := min(v.at.Page, pages)
	v.section("list", several(len(all), "decision")+", the latest first", func() {
		for i := (page - 1) * decisionsPage; i < min(len(all), page*decisionsPage); i++ {
			v.decided(&all[i])
		}
		v.decisionPages(page, pages)
		v.put("<p class=\"hint\">The %s that are kept go back to %s.</p>\n", fmt.Sprint(len(v.entries)), clock(v.entries[0].Time))
	})
}

func (v decisionsView) decisionPages(page, pages int) {
	if pages < 2 {
		return
	}
	a := *v.at
	v.put("<nav class=\"pages\" aria-label=\"Pages\"><span>%s</span>", fmt.Sprintf("page %d of %d", page, pages))
	if a.Page = page - 1; page > 1 {
		v.link(a.String(), "Later")
	}
	if a.Page = page + 1; page < pages {
		v.link(a.String(), "Earlier")
	}
	v.put("</nav>\n")
}

// decided writes one decision in words.
func (v decisionsView) decided(f *found) {
	v.put("<article class=\"decision\" id=\"decision-%s\">\n<h3><a href=\"%s\">", f.entry.ID, to("decision", f.entry.ID))
	v.time(f.entry.Time)
	v.put("</a> %s</h3>\n", short(f.entry))
	v.actionList(f)
	if more := f.count - len(f.actions); more > 0 {
		v.more(to("decision", f.entry.ID), fmt.Sprintf("%d more in this decision", more))
	}
	v.put("</article>\n")
}

// actionList writes actions, those of launches with why.
func (v decisionsView) actionList(f *found) {
	v.put("<ul class=\"actions\">")
	for i := range f.actions {
		a := &f.actions[i]
		v.put("<li><span class=\"badge %s\">%s</span> <div>", a.kind, badge(a.kind))
		if a.view != "" {
			v.item(a.view, a.name)
			v.put(": ")
		}
		v.put("%s", a.text)
		if a.claim != "" && i < whysShown {
			v.why(f.entry, a.claim)
		}
		v.put("</div></li>\n")
	}
	v.put("</ul>\n")
}

// why writes the reasons for a launch, which the reader opens.
func (v decisionsView) why(e *journal.Entry, claim string) {
	for _, f := range explain.Node([]journal.Entry{*e}, claim).Facts {
		if len(f.Details) == 0 {
			continue
		}
		v.put("<details id=\"why-%s\"><summary>Why this one</summary>", claim)
		v.list(f.Details)
		v.put("<p class=\"command\"><code>%s</code></p></details>", command("node", claim))
		return
	}
}

// decision writes one decision with all that it did.
func (v decisionsView) decision(id string) {
	at := slices.IndexFunc(v.entries, func(e journal.Entry) bool { return e.ID == id })
	if at < 0 {
		at = slices.IndexFunc(v.entries, func(e journal.Entry) bool { return strings.HasPrefix(e.ID, id) })
	}
	if at < 0 {
		v.text("It is not among the decisions that are kept. A decision log keeps them longer.")
		return
	}
	e := &v.entries[at]
	f := found{entry: e}
	for a := range actions(e) {
		if f.count++; f.count <= actionsMost {
			f.actions = append(f.actions, a)
		}
	}
	v.put("<p>")
	v.time(e.Time)
	v.put(": %s. What it launches costs %s $/h; %s ms.</p>\n", short(e), rate(e.HourlyCost.USD()), fmt.Sprintf("%.1f", e.TotalMs))
	title := "What it did"
	if v.state.Observe {
		title = "What it would do"
	}
	v.section("actions", title, func() {
		v.actionList(&f)
		if more := f.count - len(f.actions); more > 0 {
			v.text("%d more are left out.", more)
		}
	})
	v.section("asked", "Policies that were asked", func() { v.usesOf(e) })
}

// usesOf writes the policies' part in a decision.
func (v decisionsView) usesOf(e *journal.Entry) {
	if len(e.Policies) == 0 {
		v.text("None.")
		return
	}
	v.table("Policies", []string{"Policy", "Hook", "Mode", "#Refused or excluded", "#Would differ", "#Faults"}, func() {
		for i := range e.Policies {
			u := &e.Policies[i]
			v.row(func() { v.item("policy", u.Namespace+"/"+u.Name) })
			v.cells(1, u.Hook, modeOf(u), u.Denied, u.Disagreed, u.Faults)
			v.end()
		}
	})
}

// short summarizes a decision by counts.
func short(e *journal.Entry) string {
	pods, gone := 0, 0
	for i := range e.Existing {
		pods += len(e.Existing[i].Pods)
	}
	for i := range e.Disruptions {
		if e.Disruptions[i].Go {
			gone++
		}
	}
	var parts []string
	for _, p := range []struct {
		n          int
		noun, verb string
	}{
		{len(e.Nodes), "node", "launched"},
		{pods, "pod", "placed on existing nodes"},
		{gone, "node", "removed"},
		{len(e.Commands), "disruption", "of nodes under way"},
		{len(e.Unplaced), "pod", "waiting"},
	} {
		if p.n > 0 {
			parts = append(parts, several(p.n, p.noun)+" "+p.verb)
		}
	}
	if len(parts) == 0 {
		return "nothing to do"
	}
	return strings.Join(parts, ", ")
}
