package doctor

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed page.html
var page string

// WriteHTML writes a self-contained page, without scripts, for light and dark screens.
func (r *Report) WriteHTML(w io.Writer) error {
	t, err := template.New("page").Parse(page)
	if err == nil {
		err = t.Execute(w, map[string]any{"Report": r, "Verdict": r.Verdict(), "Person": r.NeedsPerson(), "Sections": r.pageSections()})
	}
	if err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// pageSections are the sections, without those that the page has tables for.
func (r *Report) pageSections() []section {
	var out []section
	for _, s := range r.sections() {
		switch s.Title {
		case "To do first", "For your information", "What stays the same, and what differs":
		default:
			out = append(out, s)
		}
	}
	return out
}
