package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// entry is a value of the chart.
type entry struct {
	name, text string
	node       *yaml.Node
}

// valuesPage is the page about the chart's values.
func valuesPage(root string) (string, error) {
	chart := filepath.Join(root, "charts/spokeshave")
	raw, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return "", fmt.Errorf("read values: %w", err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return "", fmt.Errorf("read values.yaml: %w", err)
	}
	var s schema
	raw, err = os.ReadFile(filepath.Join(chart, "values.schema.json"))
	if err != nil {
		return "", fmt.Errorf("read schema: %w", err)
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", fmt.Errorf("read values.schema.json: %w", err)
	}
	var b strings.Builder
	b.WriteString(`# Values of the chart

For whoever installs or upgrades the chart: every value, its default, and what is accepted. A misspelt name is an error that names
the nearest known one. Made from ` + "`charts/spokeshave/values.yaml` and `values.schema.json` by `make generate`" + `.

[Install on EKS](../install.md) · [On AWS](../aws.md) · [Policies that come with the chart](../policies.md#policies-that-come-with-the-chart)

Names are those of Karpenter's chart wherever they mean the same, so that its values files are accepted as they are.
*Template* means that the value may contain a Helm template.
`)
	v := values{b: &b}
	if err := v.section("", "", doc.Content[0], &s); err != nil {
		return "", err
	}
	v.without("", doc.Content[0], &s)
	b.WriteString("\n## Accepted, and without effect\n\nValues of Karpenter's chart that have no default here. A file may have them; nothing follows from them, and the notes after " +
		"the installation say so.\n\n")
	for _, w := range v.silent {
		fmt.Fprintf(&b, "- **%s**: %s\n", code(w.name), w.text)
	}
	return b.String(), nil
}

// values writes the page.
type values struct {
	b      *strings.Builder
	silent []entry
}

// section writes a table of the values in a mapping, and a section for each mapping in it
// whose values have a text of their own.
func (v *values) section(path, intro string, node *yaml.Node, s *schema) error {
	heading := path
	if path == "" {
		heading = "Of the release and its pods"
	}
	fmt.Fprintf(v.b, "\n## %s\n\n", heading)
	if intro != "" {
		fmt.Fprintf(v.b, "%s\n\n", sentence(intro))
	}
	if path == "policies.defaults" {
		v.b.WriteString("Each has `enabled`, `mode` (`Enforce` or `Shadow`) and `config`.\n\n")
	}
	var later []func() error
	for _, e := range entries(node) {
		at, p := join(path, e.name), s.Properties[e.name]
		if within(e.node) {
			later = append(later, func() error { return v.section(at, e.text, e.node, &p) })
			continue
		}
		if e.text == "" {
			return fmt.Errorf("values.yaml: %s has no text that begins with # --", at)
		}
		what, text, err := e.told(path, &p)
		if err != nil {
			return err
		}
		item(v.b, at, what, append([]string{sentence(e.text)}, text...))
	}
	for _, next := range later {
		if err := next(); err != nil {
			return err
		}
	}
	return nil
}

// told says what kind of value the entry has, and further sentences about it.
func (e *entry) told(path string, s *schema) (string, []string, error) {
	if path == "policies.defaults" {
		text := []string{fmt.Sprintf("[Its parameters](../../policies/%s).", e.name)}
		for _, c := range entries(e.node) {
			if c.name == "enabled" && c.node.Value == "true" {
				text = append(text, "Enabled by default.")
			}
		}
		return "", text, nil
	}
	var fallback any
	if err := e.node.Decode(&fallback); err != nil {
		return "", nil, fmt.Errorf("values.yaml: %s: %w", e.name, err)
	}
	what, text := accepted(s)
	if fallback != nil {
		what += ", default " + value(fallback)
	}
	return what, text, nil
}

// entries are the values of a mapping with their texts.
func entries(node *yaml.Node) []entry {
	var out []entry
	for i := 0; i+1 < len(node.Content); i += 2 {
		out = append(out, entry{node.Content[i].Value, comment(node.Content[i].HeadComment), node.Content[i+1]})
	}
	return out
}

// comment is the text of a comment, from the last line on that begins with "# --".
func comment(head string) string {
	lines := strings.Split(head, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if text, ok := strings.CutPrefix(lines[i], "# --"); ok {
			for _, more := range lines[i+1:] {
				text += " " + strings.TrimPrefix(more, "#")
			}
			return prose(text)
		}
	}
	return ""
}

// within reports whether a value is a mapping whose values have texts of their own.
func within(node *yaml.Node) bool {
	return node.Kind == yaml.MappingNode && slices.ContainsFunc(entries(node), func(e entry) bool { return e.text != "" || within(e.node) })
}

// accepted says which type a value has and what is accepted.
func accepted(s *schema) (string, []string) {
	if len(s.AnyOf) == 0 {
		return s.kind(), s.limits()
	}
	what, text := "", []string{}
	template := false
	for i := range s.AnyOf {
		switch one := &s.AnyOf[i]; {
		case one.Pattern == `\{\{`:
			template = true
		case what == "":
			what, text = accepted(one)
		case what == "boolean" && len(one.Enum) == 2, what == "integer" || what == "number": // the same, in quotes
		case one.MaxProperties != nil && *one.MaxProperties == 0: // {} in place of [], as in Karpenter's chart
		case one.Type == "null":
			what += " or null"
		default:
			other, more := accepted(one)
			what, text = what+" or "+other, append(text, more...)
		}
	}
	if template {
		text = append(text, "Template.")
	}
	return what, text
}

// without collects the values that the schema accepts and values.yaml does not have.
func (v *values) without(path string, node *yaml.Node, s *schema) {
	have := map[string]*yaml.Node{}
	for _, e := range entries(node) {
		have[e.name] = e.node
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		at, p := join(path, name), s.Properties[name]
		switch child := have[name]; {
		case at == "global", at == "policies": // Helm's own; parameters of policies, which their pages tell
		case child == nil:
			what, limits := accepted(&p)
			v.silent = append(v.silent, entry{name: at, text: strings.Join(append([]string{what + "."}, limits...), " ")})
		case child.Kind == yaml.MappingNode:
			v.without(at, child, &p)
		}
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
