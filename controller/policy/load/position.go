package load

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/core/spelling"
)

// shape says what a field of policy.yaml may be.
type shape struct {
	// words are the only values that a text may have; nil for any.
	words []string
	// list is set for a list, whose elements have the words.
	list bool
	// fields are those of a mapping; nil for another value, or any mapping.
	fields map[string]shape
}

// manifestShape is the shape of policy.yaml. The types of other values are left to the
// decoder.
func manifestShape() shape {
	var hooks []string
	for _, h := range allHooks() {
		hooks = append(hooks, string(h))
	}
	return shape{fields: map[string]shape{
		"apiVersion": {words: []string{APIVersion}}, "hooks": {words: hooks, list: true}, "engine": {words: []string{"rego", "wasm"}},
		"mode": {words: []string{string(policy.Enforce), string(policy.Shadow)}}, "priority": {}, "sha256": {}, "config": {},
		"match":         {fields: map[string]shape{"nodePools": {list: true}, "selector": {}}},
		"failurePolicy": {words: []string{string(policy.Fail), string(policy.Ignore)}},
		"limits":        {fields: map[string]shape{"fuel": {}, "memory": {}, "deadline": {}}},
	}}
}

// positions finds the fields of policy.yaml in its text, and collects what is wrong with
// them. A problem reads "policy.yaml:<line>:<column>: <field>: <message>".
type positions struct {
	at       map[string]*yaml3.Node
	problems []error
}

// read parses the text and checks its shape.
func (p *positions) read(text []byte) {
	p.at = map[string]*yaml3.Node{}
	var doc yaml3.Node
	if err := yaml3.Unmarshal(text, &doc); err != nil {
		p.problems = append(p.problems, syntaxError(text, err))
		return
	}
	if len(doc.Content) == 1 {
		p.check(doc.Content[0], "", manifestShape())
	}
}

var (
	yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)
	// ofParser are the messages for which the library counts lines from 0.
	ofParser = regexp.MustCompile(`^did not find expected ([',<]|key$|node content$)|^found (duplicate %|incompatible YAML|undefined tag)`)
	// ofReader are the messages without a line, wherever the byte is.
	ofReader = regexp.MustCompile(`UTF|control characters`)
)

// syntaxError adds the line in which the text is no YAML. The end of the text counts as its
// last line.
func syntaxError(text []byte, err error) error {
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil || m[1] == "" && ofReader.MatchString(err.Error()) {
		return fmt.Errorf("policy.yaml: %w", err)
	}
	line, message := 0, strings.TrimPrefix(err.Error(), m[0])
	if m[1] != "" {
		line, _ = strconv.Atoi(m[1]) // digits
	}
	if m[1] == "" || ofParser.MatchString(message) {
		line++
	}
	last := 1 + bytes.Count(bytes.TrimRight(text, "\n"), []byte("\n"))
	return fmt.Errorf("policy.yaml:%d:1: %s", min(line, last), message)
}

// problem adds a problem at a node; nil is the beginning of the text.
func (p *positions) problem(at *yaml3.Node, field, format string, args ...any) {
	if at == nil {
		at = &yaml3.Node{Line: 1, Column: 1}
	}
	if field != "" {
		field += ": "
	}
	p.problems = append(p.problems, fmt.Errorf("policy.yaml:%d:%d: %s%s", at.Line, at.Column, field, fmt.Sprintf(format, args...)))
}

// check compares a value with its shape. Aliases and merges are left to the decoder.
func (p *positions) check(n *yaml3.Node, field string, want shape) {
	p.at[field] = n
	switch {
	case want.fields != nil && n.Kind == yaml3.MappingNode:
		p.mapping(n, field, want.fields)
	case want.fields != nil && n.Kind == yaml3.ScalarNode && n.Tag != "!!null", field == "" && n.Kind == yaml3.SequenceNode:
		p.problem(n, field, "want a mapping of %s", strings.Join(keys(want.fields), ", "))
	case want.list && n.Kind == yaml3.SequenceNode:
		for _, each := range n.Content {
			p.word(each, field, want.words)
		}
		if len(n.Content) == 0 && want.words != nil {
			p.problem(n, field, "name at least one of %s", strings.Join(want.words, ", "))
		}
	case want.list && n.Kind == yaml3.ScalarNode && n.Tag != "!!null":
		p.problem(n, field, "want a list: %s: [%s]", lastOf(field), cmp.Or(spelling.Nearest(n.Value, want.words), n.Value))
	case want.words != nil:
		p.word(n, field, want.words)
	}
}

func (p *positions) mapping(n *yaml3.Node, field string, fields map[string]shape) {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Value == "<<" {
			continue
		}
		want, known := fields[key.Value]
		switch line, twice := seen[key.Value]; {
		case !known:
			p.problem(key, field, "unknown field %q%s", key.Value, meant(key.Value, keys(fields)))
		case twice:
			p.problem(key, field, "%s is there twice, first in line %d", key.Value, line)
		default:
			p.check(value, strings.TrimPrefix(field+"."+key.Value, "."), want)
		}
		seen[key.Value] = key.Line
	}
}

// word checks a text that may only be one of some words.
func (p *positions) word(n *yaml3.Node, field string, words []string) {
	if n.Kind != yaml3.ScalarNode || n.Value == "" || words == nil || slices.Contains(words, n.Value) {
		return
	}
	if len(words) == 1 {
		p.problem(n, field, "%q: this controller knows %s", n.Value, words[0])
		return
	}
	p.problem(n, field, "%q is not one of %s%s", n.Value, strings.Join(words, ", "), meant(n.Value, words))
}

func keys(fields map[string]shape) []string {
	var out []string
	for key := range fields {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

func lastOf(field string) string { return field[strings.LastIndexByte(field, '.')+1:] }

// meant returns a question for the word that the author may have meant, "" when none is
// near.
func meant(word string, words []string) string {
	if near := spelling.Nearest(word, words); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}
