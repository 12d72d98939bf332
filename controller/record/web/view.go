package web

import (
	"context"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/record/journal"
)

// view renders one request from what is known at one time.
type view struct {
	markup
	*summary

	server *Server
	at     *address
	state  state
	ledger *spend.Ledger
	// periods are what the last days have cost, unread why they are not known.
	periods []spend.Period
	unread  error
	// entries are the journal's decisions, oldest first.
	entries []journal.Entry
}

// contents returns the part of the page that changes.
func (s *Server) contents(ctx context.Context, a *address) string {
	v := &view{server: s, at: a, state: s.Board.latest()}
	if v.state.Snapshot == nil {
		v.put("<h1>Spokeshave</h1>\n<p role=\"status\">This replica has made no decision: another one leads, or it has just started.</p>\n")
		if a.View == overview || a.list() == "policies" {
			v.section("policies", "Policies", policiesView{v}.policyTable)
		}
		return v.String()
	}
	v.summary, v.ledger, v.entries = s.summary(v.state.Snapshot), s.ledger(v.state.Snapshot), s.Journal()
	if s.Days != nil && (a.View == "spend" || a.View == "namespace" || a.View == "nodepool") {
		v.periods, v.unread = s.Days(ctx)
	}
	v.heading()
	switch a.View {
	case overview:
		overviewView{v}.overview()
	case "spend":
		spendView{v}.spend()
	case "waiting":
		waitingView{v}.waiting()
	case "nodes":
		nodesView{v}.nodeList()
	case "decisions":
		decisionsView{v}.decisions()
	case "policies":
		policiesView{v}.policies()
	case "savings":
		savingsView{v}.savings()
	default:
		v.one()
	}
	return v.String()
}

// heading writes what is shown, and as of when.
func (v *view) heading() {
	v.put("<div class=\"heading\">")
	if _, item := items()[v.at.View]; item {
		v.put("<h1><span class=\"noun\">%s</span> %s</h1>", noun(v.at.View), v.at.Name)
	} else {
		at := slices.IndexFunc(lists(), func(l [2]string) bool { return l[0] == v.at.View })
		v.put("<h1>%s</h1>", lists()[at][1])
	}
	v.put("<p role=\"status\">As of ")
	v.time(v.snapshot.Time)
	if v.snapshot.Cluster != "" {
		v.put(", cluster %s", v.snapshot.Cluster)
	}
	v.put("</p></div>\n")
	if v.state.Observe {
		v.put("<p class=\"note\">Mode Observe: decisions are computed and recorded, and nothing is carried out.</p>\n")
	}
	if doubt := v.snapshot.SpentDoubt; doubt != "" {
		v.put("<p class=\"note\">The cost of this month is in doubt: %s</p>\n", doubt)
	}
}

// one writes the view of an item.
func (v *view) one() {
	switch v.at.View {
	case "namespace":
		spendView{v}.namespace(v.at.Name)
	case "pod":
		itemView{v}.pod(v.at.Name)
	case "node":
		itemView{v}.node(v.at.Name)
	case "nodepool":
		itemView{v}.nodePool(v.at.Name)
	case "decision":
		decisionsView{v}.decision(v.at.Name)
	case "policy":
		policiesView{v}.policy(v.at.Name)
	}
}

// wanted is the text that is looked for, in lower case.
func (v *view) wanted() string { return strings.ToLower(v.at.Query) }
