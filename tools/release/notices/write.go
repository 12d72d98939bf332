package notices

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

const rule = "--------------------------------------------------------------------------------\n"

// Write returns the notices as text: the modules with their licences, then each licence
// text and notice once, with the modules that have it. introduction comes first.
func Write(introduction string, modules []Module) []byte {
	var out bytes.Buffer
	out.WriteString(introduction)
	out.WriteString("\n")
	for _, m := range modules {
		fmt.Fprintf(&out, "  %-70s %s\n", m.Path+" "+m.Version, strings.Join(m.Licences, ", "))
	}
	out.WriteString("\nEach is used unchanged; \"go mod download MODULE@VERSION\" fetches its source. That of std, Go's\nstandard library, is at https://go.dev/dl.\n")
	owners := map[string][]string{}
	var texts []string
	for _, m := range modules {
		for _, f := range m.Files {
			if owners[f.Text] == nil {
				texts = append(texts, f.Text)
			}
			owners[f.Text] = append(owners[f.Text], m.Path+" ("+f.Name+")")
		}
	}
	for _, text := range texts {
		slices.Sort(owners[text])
		fmt.Fprintf(&out, "\n%s%s\n%s\n%s\n", rule, strings.Join(owners[text], "\n"), rule, text)
	}
	return out.Bytes()
}
