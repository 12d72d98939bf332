package web

import (
	"fmt"
	"slices"
)

const (
	// briefly is how many items of each list the overview shows.
	briefly = 6
	// groupsBrief is how many NodePools it draws.
	groupsBrief = 6
)

// overviewView writes the most important of every view.
type overviewView struct{ *view }

// overview writes the most important of every list, with links to the whole.
func (v overviewView) overview() {
	total, done := v.total(), v.saved()
	all := cost{rate: v.ledger.Rate(), amount: v.ledger.Total()}
	v.tiles(func() {
		v.tile("Spend now", rate(total.Price.USD()), "$/h", fmt.Sprintf("%d %% requested by pods", percent(total.Requested.USD(), total.Price.USD())))
		spendView(v).monthTiles(&all)
		v.tile("Nodes", grouped(float64(len(v.snapshot.Nodes)), 0), "", fmt.Sprintf("%d spot", v.spot))
		v.tile("Pods that wait", grouped(float64(len(v.state.Decision.Plan.Unplaced)), 0), "", "without a place now")
		v.tile("Saved", rate(done.Rate.USD()), "$/h", "by "+several(done.Count, "consolidation")+" in 30 days")
	})
	v.section("spend", "Spend of the last day", func() {
		c := plot(v.state.Curve, v.state.Decision.Headroom)
		v.curve(&c)
	})
	v.put("<div class=\"columns\">\n")
	v.section("teams", "Spend by namespace", v.teams)
	v.section("waiting", "Pods that wait", v.waitingBrief)
	v.put("</div>\n")
	v.section("nodes", "Requests against capacity", func() {
		groups := v.groups(v.all(), v.byPool)
		nodesView(v).groupCards(groups[:min(len(groups), groupsBrief)])
		v.more(address{View: "nodes"}.String(), "All nodes, by NodePool and zone")
	})
	v.section("decisions", "What changed", func() {
		v.brief()
		v.more(address{View: "decisions"}.String(), "All decisions that are kept")
	})
	v.put("<div class=\"columns\">\n")
	v.section("policies", "Policies", v.policiesBrief)
	v.section("savings", "Why nodes stay", v.staysBrief)
	v.put("</div>\n")
}

func (v overviewView) teams() {
	costs := spendView(v)
	namespaces, others := costs.byNamespace()
	brief := slices.Concat(namespaces[:min(len(namespaces), briefly)], others)
	if len(brief) == 0 {
		v.text("Nothing is spent yet.")
		return
	}
	whole := v.ledger.Forecast()
	v.table("Spend by namespace", []string{"Namespace", "#Now $/h", "#Forecast $", "Share"}, func() {
		for i := range brief {
			c := &brief[i]
			v.row(func() {
				if i < len(brief)-len(others) {
					v.item("namespace", c.name)
				} else {
					v.put("%s", c.name)
				}
			})
			v.cells(1, rate(c.rate.USD()), dollars(costs.forecast(c)))
			v.cell(3, func() { v.share(costs.forecast(c), whole.USD()) })
			v.end()
		}
	})
	v.more(address{View: "spend"}.String(), fmt.Sprintf("All %s, caps and NodePools", several(len(namespaces), "namespace")))
}

func (v overviewView) waitingBrief() {
	waits := waitingView(v)
	groups, pods := waits.waitingPods()
	if pods == 0 {
		v.text("Every pod has a place.")
		return
	}
	const most = 2
	waits.reasons(groups[:min(len(groups), most)], 3)
	v.more(address{View: "waiting"}.String(), "All pods that wait, by reason")
}

// brief writes the latest decisions.
func (v overviewView) brief() {
	changes := decisionsView(v)
	list := changes.search(v.entries[max(0, len(v.entries)-briefly):], actionsBrief)
	if len(list) == 0 {
		v.text("Nothing has been decided yet.")
		return
	}
	for i := range list {
		changes.decided(&list[i])
	}
}

func (v overviewView) policiesBrief() {
	all := v.server.Policies()
	if len(all) == 0 {
		v.text("There are none: the billed price decides.")
		return
	}
	policies := policiesView(v)
	effects := policies.effects()
	v.put("<ul class=\"plain\">")
	for i := range all[:min(len(all), 2*briefly)] {
		s := &all[i]
		v.put("<li>")
		policies.badge(s.State)
		v.put(" ")
		v.item("policy", s.Namespace+"/"+s.Name)
		if e := effects[s.Namespace+"/"+s.Name]; e != nil && s.State == "Shadow" {
			v.put("<span class=\"detail\">would have changed %s</span>", several(e.differs, "answer"))
		} else if e != nil && e.denied > 0 {
			v.put("<span class=\"detail\">refused or excluded %s</span>", fmt.Sprint(e.denied))
		}
		if s.Reason != "" {
			v.put("<span class=\"detail\">%s</span>", s.Reason)
		}
		v.put("</li>")
	}
	v.put("</ul>\n")
	v.more(address{View: "policies"}.String(), fmt.Sprintf("All %d, and what Shadow policies would change", len(all)))
}

func (v overviewView) staysBrief() {
	all := savingsView(v).kept("")
	if len(all) == 0 {
		v.text("No node was considered for consolidation yet.")
	} else {
		v.put("<ul class=\"plain\">")
		for i := range all[:min(len(all), briefly)] {
			s := &all[i]
			reason := s.reason
			if s.policy != "" {
				reason = "policy " + s.policy + ": " + reason
			}
			v.put("<li><strong>%s</strong>, %s $/h<span class=\"detail\">%s</span></li>", several(len(s.nodes), "node"), rate(s.price.USD()), reason)
		}
		v.put("</ul>\n")
	}
	v.more(address{View: "savings"}.String(), "What was saved and is under way")
}
