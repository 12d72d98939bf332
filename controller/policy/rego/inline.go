package rego

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// negatesMissing is why a rule with a missingNegated expression is not compiled.
const negatesMissing = "a value that may be missing is used in a negation"

// inlinable reports, as an error, why partial evaluation could change the meaning of
// the rules or of the rules that they refer to. Partial evaluation inlines rules
// body by body. It thereby loses the error when two bodies give one complete rule,
// function or key different values. If that is possible, OPA must evaluate the
// rules.
func (p *Policy) inlinable(rules []*ast.Rule) error {
	seen := map[*ast.Rule]bool{}
	for _, rule := range rules {
		if rule.Head.RuleKind() != ast.MultiValue && len(rule.Head.Ref()) != 2 {
			return &untranslatable{rule.Location, "a key below the reason is not translated"}
		}
		if loc := p.missingNegated(rule); loc != nil {
			return &untranslatable{loc, negatesMissing}
		}
		for each := range p.reachable(rule, seen) {
			if err := p.agrees(each); err != nil {
				return err
			}
			if loc := p.missingNegated(each); loc != nil {
				return &untranslatable{loc, negatesMissing}
			}
		}
	}
	return nil
}

// reachable yields the rules that a rule refers to, directly or indirectly.
func (p *Policy) reachable(rule *ast.Rule, seen map[*ast.Rule]bool) func(func(*ast.Rule) bool) {
	return func(yield func(*ast.Rule) bool) {
		todo := []*ast.Rule{rule}
		for len(todo) > 0 {
			next := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for dep := range p.compiler.Graph.Dependencies(next) {
				other, ok := dep.(*ast.Rule)
				if !ok || seen[other] {
					continue
				}
				seen[other] = true
				todo = append(todo, other)
				if !yield(other) {
					return
				}
			}
		}
	}
}

// agrees returns an error unless a helper rule has at most one value for each key.
func (p *Policy) agrees(rule *ast.Rule) error {
	if rule.Head.RuleKind() == ast.MultiValue || rule.Default && len(rule.Head.Args) == 0 {
		return nil
	}
	no := func(what string) error {
		return &untranslatable{rule.Location, fmt.Sprintf("%s %s", rule.Head.Ref(), what)}
	}
	if rule.Else != nil {
		return no("has an else")
	}
	if rule.Default {
		return no("is a function with a default")
	}
	if rule.Head.HasDynamicRef() {
		return no("is an object made by rules")
	}
	same := func(other *ast.Rule) bool {
		return other.Default || other == rule || known(rule.Head.Value) && rule.Head.Value.Equal(other.Head.Value)
	}
	others := slices.DeleteFunc(slices.Clone(p.compiler.GetRulesExact(rule.Ref())), same)
	if len(others) > 0 {
		return no("has several definitions with different values")
	}
	if !known(rule.Head.Value) && searches(rule) {
		return no("has a value found by searching")
	}
	return nil
}

func known(term *ast.Term) bool { return term.IsGround() && !refers(term) }

// searches reports whether a rule's body may succeed more than once.
func searches(rule *ast.Rule) bool { //nolint:gocognit // one case per kind of expression
	bound, found := map[ast.Var]bool{}, false
	for _, arg := range rule.Head.Args {
		ast.WalkVars(arg, func(v ast.Var) bool { bound[v] = true; return false })
	}
	for _, e := range rule.Body {
		if e.IsEquality() {
			for _, o := range e.Operands() {
				if v, ok := o.Value.(ast.Var); ok {
					bound[v] = true
				}
			}
		}
		if e.IsCall() && !e.IsEquality() {
			fn := ast.BuiltinMap[e.Operator().String()]
			found = found || fn != nil && fn.Relation
			for _, o := range e.Operands() { // the outputs of calls have one value
				if v, ok := o.Value.(ast.Var); ok && strings.HasPrefix(string(v), ast.LocalVarPrefix) {
					bound[v] = true
				}
			}
		}
	}
	ast.WalkRefs(rule, func(ref ast.Ref) bool {
		for _, part := range ref[1:] {
			v, ok := part.Value.(ast.Var)
			found = found || ok && !bound[v]
		}
		return false
	})
	return found
}
