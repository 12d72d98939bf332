package rego

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// missingNegated returns the location of a negation whose meaning partial evaluation
// would change, nil when there is none.
//
// Rego binds a variable before it evaluates a negation that uses it:
//
//	x := input.pool.labels.team
//	not data.config.known[x]
//
// does not hold for a pool without the label. Partial evaluation substitutes the label
// for the variable and drops the first line, and "not input.pool.labels.team = …" holds
// when the label is missing. Negated calls of built-in functions are safe: a compiled
// program evaluates their arguments first (see about).
func (p *Policy) missingNegated(rule *ast.Rule) *ast.Location {
	missing := p.maybeMissing(rule)
	if len(missing) == 0 {
		return nil
	}
	var found *ast.Location
	eachExpr(rule, func(e *ast.Expr) {
		if !e.Negated || found != nil || safeCall(e) {
			return
		}
		ast.WalkVars(e, func(v ast.Var) bool {
			if missing[v] {
				found = e.Location
			}
			return false
		})
	})
	if found != nil && found.File == "" {
		return rule.Location
	}
	return found
}

// safeCall reports whether an expression calls a built-in function other than
// equality.
func safeCall(e *ast.Expr) bool {
	if !e.IsCall() || e.IsEquality() {
		return false
	}
	name := e.Operator().String()
	return ast.BuiltinMap[name] != nil && name != ast.Equal.Name
}

// maybeMissing returns the variables of a rule whose value may come from something
// undefined: an argument, a part of the input that may be absent, or the value of a
// rule.
func (p *Policy) maybeMissing(rule *ast.Rule) map[ast.Var]bool {
	out := map[ast.Var]bool{}
	add := func(v ast.Var) bool { out[v] = true; return false }
	for _, arg := range rule.Head.Args {
		ast.WalkVars(arg, add)
	}
	for before := -1; before < len(out); {
		before = len(out)
		eachExpr(rule, func(e *ast.Expr) {
			if !e.IsEquality() || e.Negated {
				return
			}
			sides := e.Operands()
			for i, side := range sides {
				if _, isRef := sides[1-i].Value.(ast.Ref); !isRef && p.mayBeMissing(side, out) {
					ast.WalkVars(sides[1-i], add)
				}
			}
		})
	}
	return out
}

// mayBeMissing reports whether a term has a part that may be undefined.
func (p *Policy) mayBeMissing(term *ast.Term, missing map[ast.Var]bool) bool {
	found := false
	ast.WalkTerms(term, func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case ast.Var:
			found = found || missing[v]
		case ast.Ref:
			switch {
			case v[0].Equal(ast.InputRootDocument):
				found = found || !alwaysThere(v)
			case v[0].Equal(ast.DefaultRootDocument):
				found = found || slices.ContainsFunc(p.compiler.GetRules(v), func(r *ast.Rule) bool { return r.Head.Value != nil && !known(r.Head.Value) })
			}
		}
		return found
	})
	return found
}

// alwaysThere reports whether a reference to the input is defined in every call: a
// document that is never absent, or one of its fields.
func alwaysThere(ref ast.Ref) bool {
	if len(ref) < 2 || !ref.IsGround() {
		return len(ref) < 2
	}
	document, _ := ref[1].Value.(ast.String)
	if document == "spend" || document == "time" {
		return len(ref) == 2
	}
	return (document == "offering" || document == "pool" || document == "candidate") && len(ref) <= 3
}

// eachExpr visits every expression of a rule, also those of bodies within it.
func eachExpr(rule *ast.Rule, visit func(*ast.Expr)) {
	ast.WalkExprs(rule, func(e *ast.Expr) bool {
		visit(e)
		return false
	})
}
