package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
)

// savingsView writes what consolidation saves.
type savingsView struct{ *view }

// stays are nodes that stay for the same reason.
type stays struct {
	policy, reason string
	nodes          []int32
	price          model.Price
}

// staysShown is how many reasons are shown.
const staysShown = 30

// kept returns why nodes stay, the dearest reason first. Nodes are those of the snapshot,
// with the latest that the journal says of each; policy narrows it to one policy's.
func (v savingsView) kept(by string) []stays {
	index := make(map[string]int32, len(v.snapshot.Nodes))
	for i := range v.snapshot.Nodes {
		index[v.snapshot.Nodes[i].Name] = int32(i)
	}
	at, out := map[string]int{}, []stays{}
	for i := range slices.Backward(v.entries) {
		for k := range v.entries[i].Disruptions {
			c := &v.entries[i].Disruptions[k]
			node, there := index[c.Node]
			delete(index, c.Node) // only the latest counts
			if !there || c.Go || by != "" && c.Policy != by {
				continue
			}
			reason := withoutPod(c.Reason)
			key := c.Policy + "\n" + reason
			s, known := at[key]
			if !known {
				s = len(out)
				at[key] = s
				out = append(out, stays{policy: c.Policy, reason: reason})
			}
			out[s].nodes = append(out[s].nodes, node)
			out[s].price += v.uses[node].Price
		}
	}
	slices.SortStableFunc(out, func(a, b stays) int { return cmp.Compare(b.price, a.price) })
	return out
}

// withoutPod replaces the name of a pod in a reason, so that equal reasons are one.
func withoutPod(reason string) string {
	rest, ok := strings.CutPrefix(reason, "pod ")
	if !ok {
		return reason
	}
	_, rest, ok = strings.Cut(rest, " ")
	if !ok {
		return reason
	}
	return "a pod " + rest
}

// proposed are the disruptions under way.
func (v savingsView) proposed() (all []*decide.Command, savings model.Price) {
	for i := range v.state.Decision.Commands {
		if c := &v.state.Decision.Commands[i]; c.Stage == decide.Start || c.Stage == decide.Wait {
			all = append(all, c)
			savings += c.Savings
		}
	}
	return all, savings
}

// saved is what consolidations of the last 30 days saved.
func (v *view) saved() spend.Saved {
	return v.ledger.SavedSince(v.snapshot.Time.AddDate(0, 0, -29))
}

// savings writes what consolidation saved, what it proposes, and why the rest stays.
func (v savingsView) savings() {
	done, total := v.saved(), v.total()
	proposed, will := v.proposed()
	v.tiles(func() {
		v.tile("Saved", rate(done.Rate.USD()), "$/h", several(done.Count, "consolidation")+" in the last 30 days")
		v.tile("Worth in 30 days", dollars(done.Rate.USD()*24*30), "$", "if nothing else had changed")
		v.tile("Under way", rate(will.USD()), "$/h", several(len(proposed), "disruption"))
		v.tile("Not requested", rate((total.Price - total.Requested).USD()), "$/h", fmt.Sprintf("%d %% of the spend", percent(float64(total.Price-total.Requested), float64(total.Price))))
	})
	v.section("proposed", "Under way", func() { v.underWay(proposed) })
	v.section("stays", "Why the other nodes stay", func() { v.staying("") })
	v.section("days", "Saved by day", v.savedByDay)
	v.section("done", "Carried out", v.carriedOut)
}

// savedDays is how many days with consolidations are shown.
const savedDays = 31

// savedByDay writes what was saved on the latest days, as the ledger knows from all leaders.
func (v savingsView) savedByDay() {
	all := v.ledger.Saved
	if len(all) == 0 {
		v.text("Nothing yet.")
		return
	}
	v.table("Consolidations by day", []string{"Day", "#Consolidations", "#Saved $/h"}, func() {
		for _, s := range slices.Backward(all[max(0, len(all)-savedDays):]) {
			v.row(func() { v.put("%s", s.Day.Format("2 January 2006")) })
			v.cells(1, s.Count, rate(s.Rate.USD()))
			v.end()
		}
	})
}

func (v savingsView) underWay(all []*decide.Command) {
	if len(all) == 0 {
		v.text("No consolidation is under way.")
		return
	}
	v.table("Disruptions under way", []string{"Nodes", "Kind", "Step", "#Saves $/h", "Replaced by"}, func() {
		for _, c := range all[:min(len(all), perPage)] {
			v.row(func() { v.nodeLinks(c.Nodes) })
			v.cells(1, c.Method, step(string(c.Stage)), rate(c.Savings.USD()))
			v.cell(4, func() {
				if len(c.Replacements) == 0 {
					v.put("%s", cmp.Or(c.Reason, "nothing"))
				}
				for i := range c.Replacements {
					v.put("<span class=\"detail\">%s</span>", offering(&c.Replacements[i].Options[0]))
				}
			})
			v.end()
		}
	})
}

// nodeLinks links the first nodes of a list.
func (v savingsView) nodeLinks(nodes []int32) {
	const most = 3
	for k, i := range nodes[:min(len(nodes), most)] {
		if k > 0 {
			v.put(", ")
		}
		v.item("node", v.snapshot.Nodes[i].Name)
	}
	if more := len(nodes) - most; more > 0 {
		v.put(" and %s more", fmt.Sprint(more))
	}
}

// staying writes why nodes stay, those that a policy keeps or all.
func (v savingsView) staying(by string) {
	all := v.kept(by)
	if len(all) == 0 {
		v.text("None.")
		return
	}
	v.table("Nodes that stay", []string{"Why", "#Nodes", "#$/h", "Such as"}, func() {
		for i := range all[:min(len(all), staysShown)] {
			s := &all[i]
			v.row(func() {
				if s.policy != "" {
					v.put("policy ")
					policiesView(v).policyLink(s.policy)
					v.put(": ")
				}
				v.put("%s", s.reason)
			})
			v.cells(1, len(s.nodes), rate(s.price.USD()))
			v.cell(3, func() { v.nodeLinks(s.nodes) })
			v.end()
		}
	})
	if more := len(all) - staysShown; more > 0 {
		v.more(address{View: "decisions", Kind: kept}.String(), several(more, "further reason"))
	}
}

func (v savingsView) carriedOut() {
	all := v.state.Finished.Last
	switch {
	case v.state.Observe:
		v.text("In mode Observe nothing is carried out.")
		return
	case len(all) == 0:
		v.text("Nothing yet.")
		return
	}
	v.table("Consolidations carried out", []string{"Time", "Kind", "#Saves $/h", "Nodes"}, func() {
		for i := range slices.Backward(all[max(0, len(all)-perPage):]) {
			s := &all[max(0, len(all)-perPage)+i]
			v.row(func() { v.time(s.Time) })
			v.cells(1, s.Method, rate(s.Savings.USD()), few(s.Nodes))
			v.end()
		}
	})
	v.put("<p class=\"hint\">The nodes' hourly price less that of their replacements, at the prices of that time. This list begins with the present leader; the days above do not.</p>\n")
}
