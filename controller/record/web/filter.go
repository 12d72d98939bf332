package web

import (
	"fmt"
	"slices"
	"strings"
)

// field is one field of a filter.
type field struct {
	name, label, value string
	// options are the values to choose from; nil for a text.
	options [][2]string
}

// filter writes the form that narrows a list. It works without script: the form asks for
// the list's address with the fields as parameters. With script the list follows while
// one types.
func (m *markup) filter(a *address, fields ...field) {
	m.put("<form class=\"filter\" method=\"get\" action=\"./\" role=\"search\" aria-label=\"Filter\"><input type=\"hidden\" name=\"view\" value=\"%s\">", a.View)
	set := false
	for _, f := range fields {
		set = set || f.value != ""
		m.put("<label for=\"filter-%s\">%s", f.name, f.label)
		if f.options == nil {
			m.put("<input id=\"filter-%s\" name=\"%s\" type=\"search\" value=\"%s\" autocomplete=\"off\" spellcheck=\"false\"></label>", f.name, f.name, f.value)
			continue
		}
		if f.value != "" && !slices.ContainsFunc(f.options, func(o [2]string) bool { return o[0] == f.value }) {
			f.options = append(f.options, [2]string{f.value, f.value})
		}
		m.put("<select id=\"filter-%s\" name=\"%s\"><option value=\"\">all</option>", f.name, f.name)
		for _, o := range f.options {
			selected := ""
			if o[0] == f.value {
				selected = " selected"
			}
			m.put("<option value=\"%s\""+selected+">%s</option>", o[0], o[1])
		}
		m.put("</select></label>")
	}
	m.put("<button type=\"submit\">Apply</button>")
	if set {
		m.link(address{View: a.View}.String(), "Show all")
	}
	m.put("</form>\n")
}

// optionsMost is how many values a field offers. The address takes any other.
const optionsMost = 300

// names are options whose label is their value.
func names(values []string) [][2]string {
	values = values[:min(len(values), optionsMost)]
	out := make([][2]string, 0, len(values))
	for _, v := range values {
		out = append(out, [2]string{v, v})
	}
	return out
}

// has reports whether a text contains what is looked for, in any case of letters. What
// is looked for must be in lower case.
func has(text, wanted string) bool {
	return wanted == "" || strings.Contains(strings.ToLower(text), wanted)
}

// perPage is how many items a page of a long list has.
const perPage = 50

// bounds returns the part of a list of n items that a page of it shows.
func bounds(page, n int) (from, to int) {
	from = min((page-1)*perPage, n)
	return from, min(from+perPage, n)
}

// pages writes links to the other pages of a list of n items.
func (m *markup) pages(a address, n int) {
	from, to := bounds(a.Page, n)
	if n <= perPage {
		return
	}
	at := a.Page
	m.put("<nav class=\"pages\" aria-label=\"Pages\"><span>%s</span>", fmt.Sprintf("%d to %d of %d", min(from+1, n), to, n))
	if at > 1 {
		a.Page = at - 1
		m.link(a.String(), "Previous")
	}
	if to < n {
		a.Page = at + 1
		m.link(a.String(), "Next")
	}
	m.put("</nav>\n")
}
