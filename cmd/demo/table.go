package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// table lays rows out in columns; the first row is the heading.
func table(rows [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	for _, row := range rows {
		// A strings.Builder takes everything.
		_, _ = fmt.Fprintln(w, "  "+strings.Join(row, "\t"))
	}
	_ = w.Flush()
	return b.String()
}
