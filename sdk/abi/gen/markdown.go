package main

import (
	"fmt"
	"strings"
)

// inMarkdown is the page of docs/reference about the rows and numbers.
func inMarkdown(f *format) string {
	var b strings.Builder
	b.WriteString(`# Policy ABI: rows and numbers

For people who write a policy for WebAssembly without one of the SDKs, or an SDK: every field of every row, with its place, and every
number. What the fields mean, and how a call goes, is in the [specification](../spec/policy.md#5-wasm-abi-v1).
` + notice + `

Numbers are little endian, prices in USD/hour. A text is a *string id*: the place of the text in the batch's string index. Offsets count from the start of the
row; readers step by the stride that the batch's header tells, which may be larger in later versions. In Rust ` + "`type` is `type_`" + `.
`)
	told := map[string]string{
		"PoolRow": "input.pool", "Offering": "input.offering", "Candidate": "input.candidate", "Launch": "input.launch", "Spend": "input.spend[scope]",
	}
	for _, r := range f.rows {
		fmt.Fprintf(&b, "\n## %s\n\n%s %d bytes.", r.name, markdown(r.doc), r.size)
		if document := told[r.name]; document != "" {
			fmt.Fprintf(&b, " What each field means: `%s` in [what policies are told](../spec/policy.md#4-what-policies-are-told).", document)
		}
		b.WriteString("\n\n| at | type | Go | C, Rust | AssemblyScript | note |\n|---|---|---|---|---|---|\n")
		for _, x := range r.fields {
			kind := fmt.Sprintf("u%d", x.bits)
			switch {
			case x.name == "":
				fmt.Fprintf(&b, "| %d | %d bytes | | | | zero |\n", x.offset, x.size)
				continue
			case x.bits == 64:
				kind = "f64"
			}
			fmt.Fprintf(&b, "| %d | %s | `%s` | `%s` | `%s` | %s |\n", x.offset, kind, x.name, snake(x.name), camel(x.name), markdown(x.doc))
		}
	}
	b.WriteString("\n## Numbers\n\nIn C with `SS_` before the name.\n\n| name | value | note |\n|---|---|---|\n")
	group := ""
	for _, c := range f.constants {
		about := ""
		if c.group != group {
			group, about = c.group, markdown(c.group)
		}
		if c.doc != "" {
			about = strings.TrimSpace(about + " " + markdown(c.doc))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", upper(c.name), c.value, about)
	}
	return b.String()
}

// markdown is a comment as the text of a cell.
func markdown(text string) string {
	return strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`).Replace(strings.Join(strings.Fields(text), " "))
}
