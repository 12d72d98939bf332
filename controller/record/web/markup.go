package web

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"time"
)

// markup builds HTML. It does not use html/template, because that makes the linker keep
// every method of every type and nearly doubles the controller's memory.
//
// Size: one method for each element that the views consist of.
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

// section writes a part of a view with a title.
func (m *markup) section(id, title string, body func()) {
	m.put("<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n", id, id, id, title)
	body()
	m.put("</section>\n")
}

// text writes a paragraph.
func (m *markup) text(format string, args ...any) {
	m.put("<p>%s</p>\n", fmt.Sprintf(format, args...))
}

// link writes a link within the page.
func (m *markup) link(href, text string) { m.put("<a href=\"%s\">%s</a>", href, text) }

// item writes a link to an item by its name.
func (m *markup) item(view, name string) { m.link(to(view, name), name) }

// more writes a link below a shortened list.
func (m *markup) more(href, text string) {
	m.put("<p class=\"more\"><a href=\"%s\">%s</a></p>\n", href, text)
}

// command writes the command that explains an item.
func (m *markup) command(view, name string) {
	if c := command(view, name); c != "" {
		m.put("<p class=\"command\">On the command line: <code>%s</code></p>\n", c)
	}
}

// tiles writes the most important figures of a view.
func (m *markup) tiles(body func()) {
	m.put("<dl class=\"tiles\">")
	body()
	m.put("</dl>\n")
}

// tile writes one figure, its unit and a remark.
func (m *markup) tile(name, value, unit, remark string) {
	m.put("<div><dt>%s</dt><dd class=\"value\">%s <span class=\"unit\">%s</span></dd><dd class=\"remark\">%s</dd></div>", name, value, unit, remark)
}

// table writes a table. On a narrow screen each row becomes a card, whose cells
// carry their column's name. A column whose name begins with "#" holds figures.
func (m *markup) table(label string, columns []string, rows func()) {
	m.columns = columns
	m.put("<table aria-label=\"%s\">\n<thead><tr>", label)
	for _, c := range columns {
		if name, figures := strings.CutPrefix(c, "#"); figures {
			m.put("<th scope=\"col\" class=\"figure\">%s</th>", name)
			continue
		}
		m.put("<th scope=\"col\">%s</th>", c)
	}
	m.put("</tr></thead>\n<tbody>")
	rows()
	m.put("</tbody>\n</table>\n")
}

// row begins a row and writes its first cell. The caller writes the further cells and
// ends the row.
func (m *markup) row(head func()) {
	m.put("<tr><th scope=\"row\">")
	head()
	m.put("</th>")
}

// cell writes the cell of a column, whose contents body writes.
func (m *markup) cell(column int, body func()) {
	if name, figures := strings.CutPrefix(m.columns[column], "#"); figures {
		m.put("<td class=\"figure\" data-label=\"%s\">", name)
	} else {
		m.put("<td data-label=\"%s\">", name)
	}
	m.put("<div>")
	body()
	m.put("</div></td>")
}

// cells writes cells of text, beginning at a column.
func (m *markup) cells(from int, values ...any) {
	for i, v := range values {
		m.cell(from+i, func() { m.put("%s", v) })
	}
}

// end ends a row.
func (m *markup) end() { m.put("</tr>\n") }

// list writes sentences.
func (m *markup) list(sentences []string) {
	m.put("<ul>")
	for _, s := range sentences {
		m.put("<li>%s</li>", s)
	}
	m.put("</ul>\n")
}

// time writes a time of day with its date.
func (m *markup) time(at time.Time) {
	m.put("<time datetime=\"%s\">%s</time>", at.UTC().Format(time.RFC3339), clock(at))
}

// clock formats a time for people.
func clock(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 UTC") }

// rate formats dollars per hour with as many decimals as matter.
func rate(usd float64) string {
	switch abs := math.Abs(usd); {
	case abs == 0:
		return "0"
	case abs >= 100:
		return grouped(usd, 0)
	case abs >= 10:
		return grouped(usd, 2)
	case abs >= 1:
		return grouped(usd, 3)
	default:
		return grouped(usd, 4)
	}
}

// dollars formats an amount of money.
func dollars(usd float64) string {
	if math.Abs(usd) >= 1000 {
		return grouped(usd, 0)
	}
	return grouped(usd, 2)
}

// grouped formats a number with commas between thousands.
func grouped(v float64, decimals int) string {
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	sign := ""
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		sign, text = "-", rest
	}
	whole, fraction, dotted := strings.Cut(text, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if dotted {
		whole += "." + fraction
	}
	return sign + whole
}

// percent returns a share in percent, rounded, 0 for a share of nothing.
func percent(part, whole float64) int {
	if whole <= 0 {
		return 0
	}
	return int(100*part/whole + 0.5)
}

// several writes a number with a noun in the singular or plural.
func several(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(float64(n), 0) + " " + noun + "s"
}
