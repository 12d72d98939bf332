package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

func (t *translator) negation(e *ast.Expr) (step, error) {
	cond, err := t.condition(e.ComplementNoWith())
	if err != nil {
		return nil, err
	}
	out := negatedStep{cond: cond}
	for _, term := range about(e) {
		each, err := t.term(term)
		if err != nil {
			return nil, err
		}
		if m, ok := each.(member); ok && m.index != whole {
			continue // the fields of a record are always defined
		}
		out.about = append(out.about, each)
	}
	return out, nil
}

// about returns the terms of a negated expression that Rego evaluates outside the
// negation: the arguments of a call, and the terms inside the sides of an equation
// or the keys of a reference.
func about(e *ast.Expr) []*ast.Term { //nolint:gocognit // one case per kind of expression
	var sides, out []*ast.Term
	switch terms := e.Terms.(type) {
	case *ast.Term:
		sides = []*ast.Term{terms}
	case []*ast.Term:
		if !e.IsEquality() {
			for _, o := range terms[1:] {
				if !known(o) {
					out = append(out, o)
				}
			}
			return out
		}
		sides = terms[1:]
	}
	for _, side := range sides {
		switch v := side.Value.(type) {
		case ast.Ref:
			for _, part := range v[1:] {
				if !known(part) {
					out = append(out, part)
				}
			}
		default:
			if !known(side) {
				out = append(out, side)
			}
		}
	}
	return out
}
