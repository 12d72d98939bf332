package spending

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/rehearse/table"
)

// Sum is one line of a report.
type Sum struct {
	Name  string  `json:"name"`
	Micro int64   `json:"microUSD"`
	USD   float64 `json:"usd"`
}

// Report is what a range has cost, divided in one way.
type Report struct {
	Range

	By string `json:"by"`
	// Estimated is set when a part was not observed but estimated.
	Estimated bool     `json:"estimated,omitempty"`
	Total     Sum      `json:"total"`
	Sums      []Sum    `json:"sums"`
	Gaps      []string `json:"gaps,omitempty"`
}

// Ways returns how a report can divide.
func Ways() []string {
	return []string{"namespace", "workload", "nodepool", "family", "capacity", "day"}
}

// Of adds up what the book knows of the range. The dearest come first, days in order.
func Of(b *Book, r Range, by string) Report {
	out := Report{Range: r, By: by, Sums: []Sum{}, Gaps: b.Gaps(r)}
	sums := map[string]int64{}
	for _, p := range b.Periods(r) {
		out.Estimated = out.Estimated || p.Estimated
		for i := range p.Rows {
			sums[name(&p, &p.Rows[i], by)] += p.Rows[i].Amount.Micro
			out.Total.Micro += p.Rows[i].Amount.Micro
		}
	}
	for key, micro := range sums {
		out.Sums = append(out.Sums, Sum{Name: key, Micro: micro, USD: float64(micro) / 1e6})
	}
	out.Total.Name, out.Total.USD = "total", float64(out.Total.Micro)/1e6
	slices.SortFunc(out.Sums, func(a, b Sum) int {
		if by == "day" {
			return cmp.Compare(a.Name, b.Name)
		}
		return cmp.Or(cmp.Compare(b.Micro, a.Micro), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// name returns the line on which a row counts. What no workload pays for has parentheses.
func name(p *spend.Period, r *spend.Row, by string) string {
	switch {
	case by == "day":
		return p.From.Format(time.DateOnly)
	case by == "nodepool":
		return cmp.Or(r.Pool, "("+spend.Other+")")
	case by == "family":
		return cmp.Or(r.Family, "(unknown)")
	case by == "capacity":
		return cmp.Or(string(r.CapacityType), "(unknown)")
	case r.Kind != spend.Workload:
		return "(" + r.Kind + ")"
	case by == "workload" && r.Namespace != "":
		return r.Namespace + "/" + r.Workload
	}
	return cmp.Or(r.Namespace, "("+spend.Other+")")
}

// WriteTable writes the report as a table.
func (r *Report) WriteTable(out io.Writer) error {
	w := table.New(out).Right()
	_, _ = fmt.Fprintf(w, "$\t%%\t  %s\n", r.By) // Flush tells an error
	for _, s := range append(slices.Clone(r.Sums), r.Total) {
		share := 0.0
		if r.Total.Micro > 0 {
			share = 100 * float64(s.Micro) / float64(r.Total.Micro)
		}
		_, _ = fmt.Fprintf(w, "%.2f\t%.1f\t  %s\n", s.USD, share, s.Name)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}
