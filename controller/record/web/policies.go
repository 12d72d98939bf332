package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/policy"
)

// policiesView writes what the policies do.
type policiesView struct{ *view }

// effect sums a policy's part in the decisions that are kept.
type effect struct {
	calls, denied, differs, faults int
}

func modeOf(u *policy.Use) string {
	if u.Mode == policy.Shadow {
		return "Shadow"
	}
	return "in force"
}

// effects are by policy, namespace/name.
func (v policiesView) effects() map[string]*effect {
	out := map[string]*effect{}
	for i := range v.entries {
		for k := range v.entries[i].Policies {
			u := &v.entries[i].Policies[k]
			key := u.Namespace + "/" + u.Name
			if out[key] == nil {
				out[key] = &effect{}
			}
			e := out[key]
			e.calls, e.denied, e.differs, e.faults = e.calls+u.Calls, e.denied+u.Denied, e.differs+u.Disagreed, e.faults+u.Faults
		}
	}
	return out
}

// policies writes the policies with their effect, and what those in Shadow mode would
// have answered differently.
func (v policiesView) policies() {
	v.section("policies", "Policies", v.policyTable)
	v.section("shadow", "Shadow beside the policies in force", func() { v.shadows("") })
	v.section("caps", "Caps in force", func() { spendView(v).caps("") })
}

// policiesShown is how many policies the table has.
const policiesShown = 300

// policyTable writes one row for each policy.
func (v policiesView) policyTable() {
	all := v.server.Policies()
	if len(all) == 0 {
		v.text("There are none: the billed price decides.")
		return
	}
	effects := v.effects()
	v.table("Policies", []string{"Policy", "State", "Hooks", "#Calls", "#Refused or excluded", "#Would differ", "#Faults"}, func() {
		for i := range all[:min(len(all), policiesShown)] {
			s := &all[i]
			e := effects[s.Namespace+"/"+s.Name]
			if e == nil {
				e = &effect{}
			}
			v.row(func() {
				v.item("policy", s.Namespace+"/"+s.Name)
				if s.Reason != "" {
					v.put("<span class=\"detail\">%s</span>", s.Reason)
				}
			})
			v.cell(1, func() { v.badge(s.State) })
			v.cells(2, hooks(s), e.calls, refusals(s, e), differs(s, e), e.faults)
			v.end()
		}
	})
	if more := len(all) - policiesShown; more > 0 {
		v.text("%d more: spokeshave policy list prints all.", more)
	}
	v.put("<p class=\"hint\">Counted over the decisions that are kept. Would differ: answers of a Shadow policy that would have changed the outcome.</p>\n")
}

// badge writes a policy's state.
func (v policiesView) badge(s policy.State) {
	v.put("<span class=\"state state-%s\">%s</span>", s, s)
}

func hooks(s *policy.Status) string {
	out := make([]string, 0, len(s.Hooks))
	for _, h := range s.Hooks {
		out = append(out, string(h))
	}
	return strings.Join(out, " ")
}

// refusals is what a policy kept from happening: nothing in Shadow mode.
func refusals(s *policy.Status, e *effect) string {
	if s.State == policy.StateShadow {
		return "-"
	}
	return fmt.Sprint(e.denied)
}

// differs is how many answers of a Shadow policy would have changed the outcome.
func differs(s *policy.Status, e *effect) string {
	if s.State != policy.StateShadow {
		return "-"
	}
	return fmt.Sprint(e.differs)
}

// difference is a policy.Difference with its policy and decision.
type difference struct {
	policy.Difference

	policy, decision string
}

// differences returns what Shadow policies would have changed, of one policy or of all,
// the latest decision's first, each once.
func (v policiesView) differences(name string) []difference {
	var out []difference
	seen := map[policy.Difference]bool{}
	add := func(id string, uses []policy.Use) {
		for i := range uses {
			u := &uses[i]
			who := u.Namespace + "/" + u.Name
			if name != "" && name != who {
				continue
			}
			for _, d := range u.Differences {
				if !seen[d] {
					seen[d] = true
					out = append(out, difference{d, who, id})
				}
			}
		}
	}
	add(v.state.Decision.ID, v.state.Decision.Policies)
	for i := range slices.Backward(v.entries) {
		if len(out) >= perPage {
			break
		}
		add(v.entries[i].ID, v.entries[i].Policies)
	}
	return out[:min(len(out), perPage)]
}

// shadows writes what Shadow policies would have changed, of one policy or of all.
func (v policiesView) shadows(name string) {
	all := v.differences(name)
	if len(all) == 0 {
		v.text("No Shadow policy would have changed anything in the decisions that are kept.")
		return
	}
	v.table("Differences", []string{"About", "As decided", "With the Shadow policy", "Policy", "Decision"}, func() {
		for i := range all {
			d := &all[i]
			v.row(func() { v.put("%s", d.About) })
			v.cells(1, d.Outcome, d.Would)
			v.cell(3, func() { v.item("policy", d.policy) })
			v.cell(4, func() { v.put("<a class=\"id\" href=\"%s\">%s</a>", to("decision", d.decision), brief(d.decision)) })
			v.end()
		}
	})
	v.put("<p class=\"hint\">Examples: each decision keeps the first five of a policy.</p>\n")
}

// policyLink links a policy that a cap or a reason names, by its name alone unless two
// namespaces have the same.
func (v policiesView) policyLink(name string) {
	all := v.server.Policies()
	at := slices.IndexFunc(all, func(s policy.Status) bool { return s.Name == name || s.Namespace+"/"+s.Name == name })
	if at < 0 {
		v.put("%s", name)
		return
	}
	v.link(to("policy", all[at].Namespace+"/"+all[at].Name), name)
}

// policy writes one policy and its effect.
func (v policiesView) policy(key string) {
	all := v.server.Policies()
	at := slices.IndexFunc(all, func(s policy.Status) bool { return s.Namespace+"/"+s.Name == key })
	if at < 0 {
		v.text("There is no such policy now.")
		return
	}
	s := &all[at]
	v.put("<dl class=\"figures\"><div><dt>State</dt><dd>")
	v.badge(s.State)
	v.put("</dd></div>")
	for _, each := range [][2]string{
		{"Hooks", hooks(s)},
		{"Engine", s.Engine},
		{"Since", clock(s.Since)},
		{"Contents", s.Hash[:min(len(s.Hash), 12)]},
		{"NodePools", cmp.Or(s.Scope, "all")},
		{"Faults", fmt.Sprint(s.Faults)},
		{"Last fault", s.LastFault},
		{"Reason", s.Reason},
	} {
		if each[1] != "" {
			v.put("<div><dt>%s</dt><dd>%s</dd></div>", each[0], each[1])
		}
	}
	v.put("</dl>\n")
	if s.State == policy.StateShadow {
		v.section("shadow", "What it would have changed", func() { v.shadows(key) })
	}
	v.section("caps", "Its caps", func() { v.capsOf(s) })
	v.section("nodes", "Nodes that it keeps", func() { savingsView(v).staying(s.Name) })
	v.command("policy", key)
}

// capsOf writes the caps that come from a policy.
func (v policiesView) capsOf(s *policy.Status) {
	n := 0
	v.put("<ul>")
	for i := range v.state.Decision.Headroom {
		if c := &v.state.Decision.Headroom[i]; c.Policy == s.Name || c.Policy == s.Namespace+"/"+s.Name {
			n++
			v.put("<li>")
			spendView(v).scope(c.Scope)
			v.put(": %s, %s %% used</li>", c.Cap, fmt.Sprint(usedUp(c)))
		}
	}
	if n == 0 {
		v.put("<li>None.</li>")
	}
	v.put("</ul>\n")
}
