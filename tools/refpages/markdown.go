package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// prose is a text with the marks of Markdown taken as characters, on one line.
func prose(text string) string {
	var b strings.Builder
	code := false
	for _, r := range strings.Join(strings.Fields(text), " ") {
		switch {
		case r == '`':
			code = !code
		case strings.ContainsRune(`<*[]|`, r) && !code:
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// code is a text in the style of code.
func code(text string) string { return "`" + text + "`" }

// value is a default, as YAML on one line.
func value(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return code(fmt.Sprint(v))
	}
	text := string(raw)
	if s, ok := v.(string); ok && s != "" {
		text = s
	}
	return code(text)
}

// list is texts in the style of code: `a`, `b`.
func list(all []any) string {
	out := make([]string, 0, len(all))
	for _, a := range all {
		out = append(out, value(a))
	}
	return strings.Join(out, ", ")
}

// sentence ends a text with a full stop.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

// item writes an entry of a list: a name, what kind of value it has, and sentences about it.
func item(b *strings.Builder, name, what string, text []string) {
	if what != "" {
		what = " (" + what + ")"
	}
	fmt.Fprintf(b, "- **%s**%s: %s\n", code(name), what, strings.Join(text, " "))
}

// table writes rows under a head.
func table(b *strings.Builder, rows [][]string) {
	for i, r := range rows {
		b.WriteString("|")
		for _, cell := range r {
			b.WriteString(" " + cell + " |")
		}
		b.WriteString("\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(r)) + "|\n")
		}
	}
}
