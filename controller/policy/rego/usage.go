package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// usage lists the fields of an input document that the rules read, and the first
// place that reads the whole document.
type usage struct {
	names map[string]bool
	all   *ast.Location
}

// used returns what the rules of all modules read of input.<document>.
func used(modules map[string]*ast.Module, document string) usage {
	u := usage{names: map[string]bool{}}
	for _, name := range sortedNames(modules) {
		for _, rule := range modules[name].Rules {
			u.visit(rule, ast.StringTerm(document))
		}
	}
	return u
}

func (u *usage) visit(node any, document *ast.Term) {
	var loc *ast.Location
	ast.NewGenericVisitor(func(node any) bool {
		switch n := node.(type) {
		case *ast.Term:
			if n.Location != nil && n.Location.File != "" {
				loc = n.Location
			}
		case *ast.Expr:
			if n.Location != nil && n.Location.File != "" {
				loc = n.Location
			}
		case ast.Ref:
			if !n[0].Equal(ast.InputRootDocument) {
				return false
			}
			u.note(n, document, loc)
			for _, part := range n[1:] {
				u.visit(part, document)
			}
			return true
		case ast.Var:
			if n.Equal(ast.InputRootDocument.Value) {
				u.everything(loc)
			}
		}
		return false
	}).Walk(node)
}

func (u *usage) note(ref ast.Ref, document *ast.Term, loc *ast.Location) {
	if len(ref) > 1 {
		if _, constant := ref[1].Value.(ast.String); constant && !ref[1].Equal(document) {
			return
		}
	}
	if len(ref) > 2 && ref[1].Equal(document) {
		if name, constant := ref[2].Value.(ast.String); constant {
			u.names[string(name)] = true
			return
		}
	}
	u.everything(loc)
}

func (u *usage) everything(loc *ast.Location) {
	if u.all == nil {
		if loc == nil {
			loc = &ast.Location{}
		}
		u.all = loc
	}
}

// pick returns the fields that are used.
func pick[T any](fields []field[T], u usage) []field[T] {
	if u.all != nil {
		return fields
	}
	var out []field[T]
	for _, f := range fields {
		if u.names[f.name] {
			out = append(out, f)
		}
	}
	return out
}
