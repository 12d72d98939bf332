// Package wording puts numbers and missing values into words, for reports and tables.
package wording

import (
	"strconv"
	"strings"
)

// Plural returns a number of things: "1 node", "3 nodes", "2 classes".
func Plural(n int, what string) string {
	out := strconv.Itoa(n) + " " + what
	switch {
	case n == 1:
		return out
	case strings.HasSuffix(what, "s"):
		return out + "es"
	}
	return out + "s"
}

// Dash returns text, or "-" where there is none.
func Dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
