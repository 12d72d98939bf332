package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

func comparison(name string) func(int) bool {
	switch name {
	case "eq", "equal":
		return func(c int) bool { return c == 0 }
	case "neq":
		return func(c int) bool { return c != 0 }
	case "lt":
		return func(c int) bool { return c < 0 }
	case "lte":
		return func(c int) bool { return c <= 0 }
	case "gt":
		return func(c int) bool { return c > 0 }
	case "gte":
		return func(c int) bool { return c >= 0 }
	}
	return nil
}

// fieldComparison makes the steps that need no OPA values: comparisons of a field with
// something known at load. It returns nil for all others.
func (t *translator) fieldComparison(name string, operands []*ast.Term) step { //nolint:gocognit // one case per comparison
	if len(operands) != 2 {
		return nil
	}
	m, isField := t.asField(operands[0])
	other := operands[1]
	if !isField {
		if m, isField = t.asField(operands[1]); !isField || comparison(name) == nil {
			return nil
		}
		name, other = mirrored(name), operands[0]
	}
	of := m.of
	switch known := other.Value.(type) {
	case ast.Number:
		f, ok := known.Float64()
		if ok && of == number && comparison(name) != nil && ast.Compare(known, numberTerm(f).Value) == 0 {
			return numberStep{m.doc, m.index, name, f}
		}
	case ast.String:
		if comparison(name) == nil && name != "startswith" && name != "endswith" && name != "contains" {
			return nil
		}
		is := textStep{m.doc, m.index, name, string(known)}
		switch {
		case of == text:
			return is
		case of == labels && m.label != "":
			return labelStep{is, m.label}
		}
	case *ast.Array:
		var terms []*ast.Term
		known.Foreach(func(term *ast.Term) { terms = append(terms, term) })
		if set, ok := stringSet(terms); ok && of == text && name == ast.Member.Name {
			return textSetStep{m.doc, m.index, set}
		}
	case ast.Set:
		if set, ok := stringSet(known.Slice()); ok && of == text && name == ast.Member.Name {
			return textSetStep{m.doc, m.index, set}
		}
	}
	return nil
}

func stringSet(terms []*ast.Term) (map[string]bool, bool) {
	out := make(map[string]bool, len(terms))
	for _, term := range terms {
		s, ok := term.Value.(ast.String)
		if !ok {
			return nil, false
		}
		out[string(s)] = true
	}
	return out, true
}

func mirrored(name string) string {
	switch name {
	case "lt":
		return "gt"
	case "lte":
		return "gte"
	case "gt":
		return "lt"
	case "gte":
		return "lte"
	}
	return name
}

// asField recognises input.<document>.<field> and a label of such a field.
func (t *translator) asField(term *ast.Term) (typedField, bool) {
	ref, ok := term.Value.(ast.Ref)
	if !ok || len(ref) < 3 || len(ref) > 4 || !ref[0].Equal(ast.InputRootDocument) {
		return typedField{}, false
	}
	e, err := t.reference(ref[:3])
	m, ok := e.(member)
	if err != nil || !ok || m.index == whole {
		return typedField{}, false
	}
	name, _ := ref[2].Value.(ast.String)
	_, of, _ := t.docs[m.doc].field(string(name))
	out := typedField{member: m, of: of}
	if len(ref) == 4 {
		key, ok := ref[3].Value.(ast.String)
		out.label = string(key)
		return out, ok && of == labels && key != ""
	}
	return out, true
}

// typedField is a field and its kind, or one of its labels.
type typedField struct {
	member
	of    kind
	label string
}
