package web

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// markup is HTML under construction. It is written by code and not by
// html/template, which would link every method of every type into the
// controller and nearly double what it takes in memory.
type markup struct{ strings.Builder }

// put adds a format whose verbs are all %s; arguments are escaped, for text and
// for quoted attributes.
func (m *markup) put(format string, args ...any) {
	for i, a := range args {
		args[i] = html.EscapeString(fmt.Sprint(a))
	}
	_, _ = fmt.Fprintf(m, format, args...) // a Builder takes everything
}

// contents is what changes on the page.
func contents(p *page) string {
	var m markup
	if p.Leads {
		m.put("<p role=\"status\">As of <time datetime=\"%s\">%s</time>: %s $/h run, of which pods ask for %s $/h.</p>\n", p.Time, p.Time, p.Rate, p.Load)
	} else {
		m.put("<p role=\"status\">This replica has made no decision: another one leads, or it has just started.</p>\n")
	}
	m.section("spend", "Spend against the load", func() { m.spend(p) })
	m.section("nodes", fmt.Sprintf("Nodes (%d)", len(p.Nodes)), func() { m.nodes(p) })
	m.section("policies", fmt.Sprintf("Policies (%d)", len(p.Policies)), func() { m.policies(p) })
	m.section("decisions", "Decisions", func() { m.decisions(p) })
	return m.String()
}

func (m *markup) section(id, title string, body func()) {
	m.put("<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n", id, id, id, title)
	body()
	m.put("</section>\n")
}

// table writes a table that scrolls on a narrow screen.
func (m *markup) table(label string, columns []string, rows func()) {
	m.put("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table>\n<thead><tr>", label)
	for _, c := range columns {
		m.put("<th scope=\"col\">%s</th>", c)
	}
	m.put("</tr></thead>\n<tbody>")
	rows()
	m.put("</tbody>\n</table></div>\n")
}

// cells are the cells of a row after its head.
func (m *markup) cells(values ...any) {
	for _, v := range values {
		m.put("<td>%s</td>", v)
	}
}

func (m *markup) list(items []string) {
	m.put("<ul>")
	for _, item := range items {
		m.put("<li>%s</li>", item)
	}
	m.put("</ul>")
}

func (m *markup) spend(p *page) {
	if c := &p.Chart; c.Spend != "" {
		m.put("<figure><svg viewBox=\"0 0 600 120\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Spend and load from %s to %s UTC, at most %s $/h\">\n", c.From, c.To, c.Top)
		m.put("<polyline class=\"spend\" points=\"%s\"></polyline><polyline class=\"load\" points=\"%s\"></polyline></svg>\n", c.Spend, c.Load)
		m.put("<figcaption>%s to %s UTC, top %s $/h. <span class=\"key spend\">spend</span> <span class=\"key load\">what pods ask for</span></figcaption></figure>\n", c.From, c.To, c.Top)
	}
	if len(p.Caps) == 0 {
		m.put("<p>No cap is in force.</p>\n")
		return
	}
	m.table("Caps", []string{"Scope", "Policy", "Cap", "Kind", "Runs $/h", "Left $/h"}, func() {
		for i := range p.Caps {
			c, kind := &p.Caps[i], "hard"
			if c.Soft {
				kind = "soft"
			}
			m.put("<tr><th scope=\"row\">%s</th>", c.Scope)
			m.cells(c.Policy, c.Cap, kind, c.Burn, c.Left)
			m.put("</tr>")
		}
	})
}

func (m *markup) nodes(p *page) {
	m.table("Nodes", []string{"Node", "NodePool", "Type", "Zone", "Capacity", "State", "$/h", "Pods"}, func() {
		for i := range p.Nodes {
			n := &p.Nodes[i]
			m.put("<tr><th scope=\"row\">%s</th>", n.Name)
			m.cells(n.Pool, n.Type, n.Zone, n.Capacity, n.State, n.Cost)
			if len(n.Pods) == 0 {
				m.put("<td>0</td></tr>")
				continue
			}
			m.put("<td><details id=\"node-%s\"><summary>%s</summary>", n.Name, strconv.Itoa(len(n.Pods)))
			m.list(n.Pods)
			m.put("</details></td></tr>")
		}
	})
}

func (m *markup) policies(p *page) {
	m.table("Policies", []string{"Policy", "State", "Hooks", "Engine", "Calls", "Faults", "Reason"}, func() {
		for i := range p.Policies {
			s := &p.Policies[i]
			hooks := make([]string, 0, len(s.Hooks))
			for _, h := range s.Hooks {
				hooks = append(hooks, string(h))
			}
			m.put("<tr><th scope=\"row\">%s/%s</th><td class=\"state-%s\">%s</td>", s.Namespace, s.Name, s.State, s.State)
			m.cells(strings.Join(hooks, " "), s.Engine, s.Calls, s.Faults, s.Reason)
			m.put("</tr>")
		}
	})
}

func (m *markup) decisions(p *page) {
	for i := range p.Journal {
		d := &p.Journal[i]
		m.put("<details id=\"decision-%s\"><summary><time datetime=\"%s\">%s</time> %s: %s steps, %s pods wait</summary>\n", d.ID, d.Time, d.Time, d.ID, strconv.Itoa(len(d.Says)), strconv.Itoa(len(d.Waiting)))
		if len(d.Says) > 0 {
			m.list(d.Says)
		}
		if len(d.Waiting) > 0 {
			m.put("\n<dl>")
			for _, w := range d.Waiting {
				m.put("<dt>%s waits</dt>", w.Pod)
				for _, r := range w.Reasons {
					m.put("<dd>%s</dd>", r)
				}
			}
			m.put("</dl>")
		}
		m.put("\n</details>")
	}
	if len(p.Journal) == 0 {
		m.put("<p>Nothing has been decided yet.</p>\n")
	}
}
