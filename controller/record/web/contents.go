package web

import (
	"fmt"
	"html"
	"strings"

	"spokeshave.dev/controller/core/decide"
)

// markup builds HTML. It does not use html/template, because that makes the linker keep
// every method of every type and nearly doubles the controller's memory.
type markup struct {
	strings.Builder

	// columns are the columns of the table that is being written.
	columns []string
}

// put appends a format whose verbs are all %s. The arguments are escaped for text and
// for quoted attributes.
func (m *markup) put(format string, args ...any) {
	for i, a := range args {
		args[i] = html.EscapeString(fmt.Sprint(a))
	}
	_, _ = fmt.Fprintf(m, format, args...) // writing to a Builder never fails
}

// contents returns the part of the page that changes.
func contents(p *page) string {
	var m markup
	if p.Leads {
		m.put("<p role=\"status\">As of <time datetime=\"%s\">%s</time>: %s $/h run, of which pods ask for %s $/h.</p>\n", p.Time, clock(p.Time), p.Rate, p.Load)
		m.tiles(p)
	} else {
		m.put("<p role=\"status\">This replica has made no decision: another one leads, or it has just started.</p>\n")
	}
	m.section("spend", "Spend against the load", func() { m.spend(p) })
	m.section("waiting", fmt.Sprintf("Pods that wait (%d)", p.Waits), func() { m.waiting(p) })
	m.section("nodes", fmt.Sprintf("Nodes (%d)", len(p.Nodes)), func() { m.nodes(p) })
	m.section("policies", fmt.Sprintf("Policies (%d)", len(p.Policies)), func() { m.policies(p) })
	m.section("decisions", "Decisions", func() { m.decisions(p) })
	return m.String()
}

// clock formats a time of RFC 3339, UTC, for users.
func clock(at string) string {
	return strings.TrimSuffix(strings.Replace(at, "T", " ", 1), "Z") + " UTC"
}

func (m *markup) section(id, title string, body func()) {
	m.put("<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n", id, id, id, title)
	body()
	m.put("</section>\n")
}

// tiles writes the most important figures.
func (m *markup) tiles(p *page) {
	m.put("<dl class=\"tiles\">")
	tile := func(name, value, more string) {
		m.put("<div><dt>%s</dt><dd>%s</dd><dd class=\"more\">%s</dd></div>", name, value, more)
	}
	tile("Spend", p.Rate.String()+" $/h", fmt.Sprintf("%.0f $ in 30 days", p.Rate.USD()*24*30))
	share := 0.0
	if p.Rate > 0 {
		share = 100 * float64(p.Load) / float64(p.Rate)
	}
	tile("Asked for by pods", fmt.Sprintf("%.0f %%", share), p.Load.String()+" $/h")
	tile("Nodes", fmt.Sprint(len(p.Nodes)), fmt.Sprintf("%d spot", p.Spot))
	tile("Pods that wait", fmt.Sprint(p.Waits), "without a place now")
	m.put("</dl>\n")
}

// table writes a table. On a narrow screen each row becomes a card, whose cells
// carry their column's name.
func (m *markup) table(label string, columns []string, rows func()) {
	m.columns = columns
	m.put("<table aria-label=\"%s\">\n<thead><tr>", label)
	for _, c := range columns {
		m.put("<th scope=\"col\">%s</th>", c)
	}
	m.put("</tr></thead>\n<tbody>")
	rows()
	m.put("</tbody>\n</table>\n")
}

// row begins a row and writes its first cell. The caller writes the further cells.
func (m *markup) row(head string) { m.put("<tr><th scope=\"row\">%s</th>", head) }

// cell writes the cell of a column, whose contents body writes.
func (m *markup) cell(column int, body func()) {
	m.put("<td data-label=\"%s\">", m.columns[column])
	body()
	m.put("</td>")
}

// cells writes cells of text, beginning at a column.
func (m *markup) cells(from int, values ...any) {
	for i, v := range values {
		m.cell(from+i, func() { m.put("%s", v) })
	}
}

// meter shows a share in percent, as a bar and in figures.
func (m *markup) meter(percent int, label string) {
	m.put("<meter min=\"0\" max=\"100\" value=\"%s\" aria-label=\"%s\"></meter> <span>%s&#8239;%%</span>", fmt.Sprint(percent), label, fmt.Sprint(percent))
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
		m.put("<figure><div class=\"plot\"><span class=\"top\">%s $/h</span><span class=\"zero\">0</span>\n", c.Top)
		m.put("<svg viewBox=\"0 0 600 160\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Spend and load from %s to %s UTC, at most %s $/h\">\n", c.From, c.To, c.Top)
		m.put("<path class=\"grid\" d=\"M0 40H600M0 80H600M0 120H600\"></path><polygon class=\"load\" points=\"%s\"></polygon><polyline class=\"spend\" points=\"%s\"></polyline>", c.Load, c.Spend)
		if c.Cap != "" {
			m.put("<path class=\"cap\" d=\"M0 %sH600\"></path>", c.CapAt)
		}
		m.put("</svg></div>\n<figcaption><span>%s</span><span class=\"keys\"><span class=\"key spend\">spend</span> <span class=\"key load\">what pods ask for</span>", c.From)
		if c.Cap != "" {
			m.put(" <span class=\"key cap\">cap %s $/h</span>", c.Cap)
		}
		m.put("</span><span>%s UTC</span></figcaption></figure>\n", c.To)
	}
	if len(p.Caps) == 0 {
		m.put("<p>No cap is in force.</p>\n")
		return
	}
	m.table("Caps", []string{"Scope", "Policy", "Cap", "Kind", "Used", "Runs $/h", "Left $"}, func() {
		for i := range p.Caps {
			c, kind := &p.Caps[i], "hard"
			if c.Soft {
				kind = "soft"
			}
			m.row(c.Scope)
			m.cells(1, c.Policy, c.Cap, kind)
			m.cell(4, func() { m.meter(usedUp(c), "used of the cap on "+c.Scope) })
			m.cells(5, c.Burn, c.Left)
			m.put("</tr>")
		}
	})
}

// usedUp returns how much of a cap is used, in percent.
func usedUp(c *decide.CapStatus) int {
	if c.Limit <= 0 {
		return 100
	}
	return max(0, int(100*(1-c.Left.USD()/c.Limit)+0.5))
}

func (m *markup) waiting(p *page) {
	if p.Waits == 0 {
		m.put("<p>Every pod has a place.</p>\n")
		return
	}
	m.reasons(p.Waiting)
	if more := p.Waits - len(p.Waiting); more > 0 {
		m.put("<p>%s more wait.</p>\n", fmt.Sprint(more))
	}
}

// together is how many of the pods that wait for the same reasons are named.
const together = 6

// reasons writes why pods wait, once for all pods with the same reasons.
func (m *markup) reasons(all []waiting) {
	m.put("<dl class=\"reasons\">")
	for i := 0; i < len(all); {
		last := i
		var pods []string
		for last < len(all) && strings.Join(all[last].Reasons, "\n") == strings.Join(all[i].Reasons, "\n") {
			pods = append(pods, all[last].Pod)
			last++
		}
		more := ""
		if n := len(pods) - together; n > 0 {
			pods, more = pods[:together], fmt.Sprintf(" and %d more", n)
		}
		m.put("<dt>%s%s</dt>", strings.Join(pods, ", "), more)
		for _, r := range all[i].Reasons {
			m.put("<dd>%s</dd>", r)
		}
		i = last
	}
	m.put("</dl>\n")
}

// listBytes is the size in bytes from which a list of nodes or decisions is cut.
const listBytes = 1 << 20

func (m *markup) nodes(p *page) {
	start, left := m.Len(), 0
	m.table("Nodes", []string{"Node", "NodePool", "Type", "Zone", "Capacity", "State", "$/h", "Used", "Pods"}, func() {
		for i := range p.Nodes {
			n := &p.Nodes[i]
			if m.Len()-start > listBytes {
				left = len(p.Nodes) - i
				break
			}
			m.row(n.Name)
			m.cells(1, n.Pool, n.Type, n.Zone, n.Capacity, n.State, n.Cost)
			m.cell(7, func() { m.meter(n.Used, "used of "+n.Name) })
			m.cell(8, func() {
				if len(n.Pods) == 0 {
					m.put("0")
					return
				}
				m.put("<details id=\"node-%s\"><summary>%s</summary>", n.Name, fmt.Sprint(len(n.Pods)))
				m.list(n.Pods)
				m.put("</details>")
			})
			m.put("</tr>")
		}
	})
	if left > 0 {
		m.put("<p>%s more nodes, each cheaper than these: <code>kubectl get nodeclaims</code> lists all.</p>\n", fmt.Sprint(left))
	}
}

func (m *markup) policies(p *page) {
	m.table("Policies", []string{"Policy", "State", "Hooks", "Engine", "Calls", "Faults", "Reason"}, func() {
		for i := range p.Policies {
			s := &p.Policies[i]
			hooks := make([]string, 0, len(s.Hooks))
			for _, h := range s.Hooks {
				hooks = append(hooks, string(h))
			}
			m.row(s.Namespace + "/" + s.Name)
			m.cell(1, func() { m.put("<span class=\"state state-%s\">%s</span>", s.State, s.State) })
			m.cells(2, strings.Join(hooks, " "), s.Engine, s.Calls, s.Faults, s.Reason)
			m.put("</tr>")
		}
	})
}

func (m *markup) decisions(p *page) {
	start := m.Len()
	for i := range p.Journal {
		if m.Len()-start > listBytes {
			m.put("<p>%s earlier decisions are left out: <code>spokeshave explain</code> knows them.</p>\n", fmt.Sprint(len(p.Journal)-i))
			break
		}
		d := &p.Journal[i]
		m.put("<details id=\"decision-%s\"><summary><time datetime=\"%s\">%s</time>: %s <code>%s</code></summary>\n", d.ID, d.Time, clock(d.Time), d.Short, d.ID)
		if len(d.Says) > 0 {
			m.list(d.Says)
		}
		if len(d.Waiting) > 0 {
			m.put("<p>These pods wait:</p>")
			m.reasons(d.Waiting)
		}
		m.put("\n</details>\n")
	}
	if len(p.Journal) == 0 {
		m.put("<p>Nothing has been decided yet.</p>\n")
	}
}
