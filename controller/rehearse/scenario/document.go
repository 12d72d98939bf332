package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/api/quantity"
)

// document is one object in a file.
type document struct {
	source Source
	text   []byte // YAML or JSON, as written
	start  int    // the line of the file on which text begins
	json   []byte // the object alone
	// prefix is the object's path in the document, for items of a list: "items[3].".
	prefix string
}

// documents splits a file at its "---" lines and converts each part to JSON.
func documents(file string, raw []byte) ([]document, error) {
	var out []document
	for _, p := range split(raw) {
		d := document{source: Source{file, p.line}, text: p.text, start: p.line}
		trimmed := bytes.TrimSpace(p.text)
		if len(trimmed) == 0 {
			continue
		}
		if trimmed[0] == '{' && json.Valid(trimmed) {
			d.json = p.text
			out = append(out, d)
			continue
		}
		converted, err := yaml.YAMLToJSONStrict(p.text)
		if err != nil {
			return nil, d.syntax(err)
		}
		if bytes.Equal(bytes.TrimSpace(converted), []byte("null")) {
			continue // comments only
		}
		d.json = converted
		d.source.Line += leading(p.text)
		out = append(out, d)
	}
	return out, nil
}

type part struct {
	text []byte
	line int
}

// split cuts at lines that begin a YAML document.
func split(raw []byte) []part {
	var out []part
	start, line, first := 0, 1, 1
	for at := 0; at < len(raw); {
		end := at + bytes.IndexByte(raw[at:], '\n') + 1
		if end == at {
			end = len(raw)
		}
		text := raw[at:end]
		if bytes.HasPrefix(text, []byte("---")) && (len(text) == 3 || strings.IndexByte(" \t\r\n", text[3]) >= 0) {
			out = append(out, part{raw[start:at], first})
			rest := bytes.TrimSpace(text[3:])
			start, first = end, line+1
			if len(rest) > 0 && rest[0] != '#' { // the document begins on the marker's line
				start, first = at+3, line
			}
		}
		at = end
		line++
	}
	return append(out, part{raw[start:], first})
}

// leading returns the number of blank lines and comments at the start of a document.
func leading(text []byte) int {
	n := 0
	for len(text) > 0 {
		line, rest, found := bytes.Cut(text, []byte("\n"))
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' || !found {
			return n
		}
		text = rest
		n++
	}
	return n
}

// syntax adds file and line to a YAML error, whose line counts from the document's
// start.
func (d *document) syntax(err error) error {
	text := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	at := d.source
	if m := regexp.MustCompile(`line (\d+)`).FindStringSubmatchIndex(text); m != nil {
		if n, convErr := strconv.Atoi(text[m[2]:m[3]]); convErr == nil {
			at.Line = n + d.start - 1
			text = text[:m[2]] + strconv.Itoa(at.Line) + text[m[3]:]
		}
	}
	return &Error{at, errors.New(text)}
}

// longExponent matches a text that ends in an exponent of four digits or more.
var longExponent = regexp.MustCompile(`[0-9.][eE][+-]?[0-9]{4,}"`)

// decode reads the document's object strictly.
func (d *document) decode(into any) error {
	if longExponent.Match(d.json) { // the decoder would compute it digit by digit
		if err := d.badQuantity(); err != nil {
			return err
		}
	}
	strict, err := kjson.UnmarshalStrict(d.json, into)
	switch {
	case err != nil:
		return d.wrong(err)
	case len(strict) > 0:
		if field, ok := errors.AsType[kjson.FieldError](strict[0]); ok {
			return &Error{d.line(field.FieldPath()), strict[0]}
		}
		return &Error{d.source, strict[0]}
	}
	return nil
}

// wrong adds file and line to the error of a value of the wrong type.
func (d *document) wrong(err error) error {
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return &Error{d.line(kind.Field), fmt.Errorf("%s: want %s, not a %s", kind.Field, kind.Type, kind.Value)}
	}
	if strings.Contains(err.Error(), resource.ErrFormatWrong.Error()) { // the decoder keeps no chain
		if bad := d.badQuantity(); bad != nil {
			return bad
		}
	}
	// The types' own decoders return errors without a position, but quote the value.
	at := d.source
	if m := regexp.MustCompile(`"([^"]+)"`).FindStringSubmatch(err.Error()); m != nil {
		if n := findScalar(d.tree(), m[1]); n != nil {
			at.Line = d.start + n.Line - 1
		}
	}
	return &Error{at, err}
}

func findScalar(n *yaml3.Node, value string) *yaml3.Node {
	if n == nil || n.Kind == yaml3.ScalarNode && n.Value == value {
		return n
	}
	for _, child := range n.Content {
		if found := findScalar(child, value); found != nil {
			return found
		}
	}
	return nil
}

// line returns the line of a field such as spec.containers[0].image, or that of the
// object when the field is not there.
func (d *document) line(path string) Source {
	root := d.tree()
	if root == nil {
		return d.source
	}
	return Source{d.source.File, d.start + walk(root, d.prefix+path) - 1}
}

func (d *document) tree() *yaml3.Node {
	var root yaml3.Node
	if yaml3.Unmarshal(d.text, &root) != nil || len(root.Content) == 0 {
		return nil
	}
	return root.Content[0]
}

// walk follows a path as far as it exists and returns the line of the last key. Keys
// may contain dots: the longest key that matches is taken.
func walk(n *yaml3.Node, path string) int {
	line := n.Line
	for path != "" {
		if index, rest, ok := cutIndex(path); ok {
			if n.Kind != yaml3.SequenceNode || index >= len(n.Content) {
				return line
			}
			n, path = n.Content[index], rest
			line = n.Line
			continue
		}
		path = strings.TrimPrefix(path, ".")
		key, value := longest(n, path)
		if key == nil {
			return line
		}
		line = key.Line
		n, path = value, path[len(key.Value):]
	}
	return line
}

func cutIndex(path string) (index int, rest string, ok bool) {
	if !strings.HasPrefix(path, "[") {
		return 0, "", false
	}
	digits, rest, ok := strings.Cut(path[1:], "]")
	if !ok {
		return 0, "", false
	}
	index, err := strconv.Atoi(digits)
	return index, rest, err == nil && index >= 0
}

// longest returns the longest key of a mapping with which the path begins, and its
// value.
func longest(n *yaml3.Node, path string) (key, value *yaml3.Node) {
	if n.Kind != yaml3.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		rest, ok := strings.CutPrefix(path, k.Value)
		if !ok || k.Value == "" || rest != "" && rest[0] != '.' && rest[0] != '[' {
			continue
		}
		if key == nil || len(k.Value) > len(key.Value) {
			key, value = k, n.Content[i+1]
		}
	}
	return key, value
}

// badQuantity returns an error about the first quantity that cannot be parsed, nil when all can: the
// decoder's errors about quantities have no position.
func (d *document) badQuantity() error {
	root := d.tree()
	if root == nil {
		return nil
	}
	n, path := findQuantity(root, "")
	if n == nil {
		return nil
	}
	return &Error{Source{d.source.File, d.start + n.Line - 1}, fmt.Errorf("%s: %q is not a quantity such as 500m or 2Gi", path, n.Value)}
}

// findQuantity searches quantities, and mappings from resource names to quantities.
func findQuantity(n *yaml3.Node, path string) (found *yaml3.Node, at string) {
	for i := range n.Content {
		child, place := n.Content[i], fmt.Sprintf("%s[%d]", path, i)
		if n.Kind == yaml3.MappingNode {
			if i%2 == 1 {
				continue
			}
			child, place = n.Content[i+1], strings.TrimPrefix(path+"."+child.Value, ".")
			switch n.Content[i].Value {
			case "requests", "limits", "capacity", "allocatable", "overhead", "hard":
				found, at = badAmount(child, place)
			case "sizeLimit", "divisor", "volumeSize":
				if isBadQuantity(child) {
					found, at = child, place
				}
			}
		}
		if found == nil {
			found, at = findQuantity(child, place)
		}
		if found != nil {
			return found, at
		}
	}
	return nil, ""
}

func badAmount(n *yaml3.Node, path string) (found *yaml3.Node, at string) {
	for i := 0; n.Kind == yaml3.MappingNode && i+1 < len(n.Content); i += 2 {
		if value := n.Content[i+1]; isBadQuantity(value) {
			return value, path + "." + n.Content[i].Value
		}
	}
	return nil, ""
}

func isBadQuantity(n *yaml3.Node) bool {
	if n.Kind != yaml3.ScalarNode {
		return false
	}
	_, err := quantity.Parse(n.Value)
	return err != nil
}
