package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// table formats rows in columns; the first row is the header.
func table(rows [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	for _, row := range rows {
		// Writing to a strings.Builder never fails.
		_, _ = fmt.Fprintln(w, "  "+strings.Join(row, "\t"))
	}
	_ = w.Flush()
	return b.String()
}
