package rego

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"spokeshave.dev/controller/core/policy"
)

// Limits on partial evaluation: its time, the bytes by which the heap may grow, and the
// number of bodies it may produce. It enumerates what does not depend on the input; a rule
// whose enumeration is large is evaluated by OPA when it is asked. The heap of the process
// that loads policies must not come near the process's limit by that, on whatever machine:
// the policy would be rejected for it.
const (
	partialDeadline        = 2 * time.Second
	partialGrowth   uint64 = 24 << 20
	maxBodies              = 10_000

	varKey   = "spokeshave_key"
	varValue = "spokeshave_value"
)

// program is one rule of the contract after partial evaluation. Everything that
// depends on data alone is evaluated. What is left are alternatives with conditions
// on the input.
type program struct {
	rule string
	set  bool
	loc  *ast.Location

	alternatives []alternative
	// always are the alternatives to try for every row. byText are those that first
	// compare a field of the row with a text.
	always []int
	byText []dispatch
}

// alternative is one way in which the rule produces a result.
type alternative struct {
	steps      []step
	key, value expr
	// fixed is set when the result is known at load.
	fixed bool
}

// dispatch finds alternatives by the value of a text field.
type dispatch struct {
	index int
	to    map[string][]int
}

// compileProgram makes the program of a rule. Otherwise its error names the line
// that cannot be compiled. The first of the documents is the row.
func (p *Policy) compileProgram(ctx context.Context, hook policy.Hook, rule string, t translator) (*program, error) {
	rules := p.contractRules(hook, rule)
	if p.opaOnly {
		return nil, &untranslatable{rules[0].Location, "the compiled evaluator is off"}
	}
	if err := p.inlinable(rules); err != nil {
		return nil, err
	}
	out := &program{rule: rule, set: slices.Contains(hookRules(hook).sets, rule), loc: rules[0].Location}
	t.loc = out.loc
	bodies, support, err := p.partial(ctx, hook, out)
	if err != nil {
		return nil, err
	}
	if len(bodies) > maxBodies {
		return nil, t.no("%s has %d alternatives, at most %d are translated", rule, len(bodies), maxBodies)
	}
	if err := t.auxiliaries(support); err != nil {
		return nil, err
	}
	for _, body := range bodies {
		t.slots, t.loc = map[ast.Var]int{}, out.loc
		a, err := t.alternative(body, out.set)
		if err != nil {
			return nil, err
		}
		out.alternatives = append(out.alternatives, a)
	}
	out.index()
	return out, nil
}

func (p *Policy) contractRules(hook policy.Hook, rule string) []*ast.Rule {
	return p.compiler.GetRulesDynamicWithOpts(packageRef(hook).Append(ast.StringTerm(rule)), ast.RulesOptions{IncludeHiddenModules: true})
}

// partial evaluates a rule with all of the input unknown.
func (p *Policy) partial(ctx context.Context, hook policy.Hook, rule *program) (bodies []ast.Body, support []*ast.Module, err error) {
	ref := packageRef(hook).Append(ast.StringTerm(rule.rule)).Append(ast.VarTerm(varKey))
	body := ast.NewBody(ast.NewExpr(ast.NewTerm(ref)))
	if !rule.set {
		body = ast.NewBody(ast.Equality.Expr(ast.NewTerm(ref), ast.ArrayTerm(ast.VarTerm(varValue))))
		defer wrapped(p.contractRules(hook, rule.rule))()
	}
	ahead := &Policy{compiler: p.compiler, store: p.store, deadline: partialDeadline, memory: min(p.memory, partialGrowth)}
	err = ahead.visit(ctx, policy.Call{Time: time.Unix(0, 0)}, func(ctx context.Context, s *session) error {
		var err error
		bodies, support, err = s.prepare(topdown.NewQuery(body)).WithUnknowns([]*ast.Term{ast.InputRootRefTerm}).PartialRun(ctx)
		return err
	})
	if err != nil {
		return nil, nil, &untranslatable{rule.loc, fmt.Sprintf("%s cannot be evaluated ahead: %v", rule.rule, err)}
	}
	return bodies, support, nil
}

// wrapped makes the values of rules arrays of one element, until undo is called. Partial evaluation
// looks a rule's key up in the scope that its value comes from. Where that is a function that the rule calls, a
// variable of the rule has no value there, and the rule seems never to hold. An array is made in the scope of
// the rule. The query is not compiled, because the type checker would refuse arrays in place of numbers.
func wrapped(rules []*ast.Rule) (undo func()) {
	values := make([]*ast.Term, len(rules))
	for i, r := range rules {
		values[i] = r.Head.Value
		r.Head.Value = ast.ArrayTerm(r.Head.Value)
	}
	return func() {
		for i, r := range rules {
			r.Head.Value = values[i]
		}
	}
}

func (t *translator) alternative(body ast.Body, set bool) (alternative, error) { //nolint:revive // a fact about the rule, not a mode
	var out alternative
	var err error
	if out.steps, err = t.body(body); err != nil {
		return out, err
	}
	if out.key, err = t.term(ast.VarTerm(varKey)); err != nil {
		return out, err
	}
	out.value = constant{ast.Boolean(true)}
	if !set {
		if out.value, err = t.term(ast.VarTerm(varValue)); err != nil {
			return out, err
		}
	}
	out.settle()
	return out, nil
}

// settle replaces variables that only carry a constant to the result by that
// constant.
func (a *alternative) settle() {
	for _, end := range []*expr{&a.key, &a.value} {
		v, ok := (*end).(variable)
		if !ok {
			continue
		}
		for i, s := range a.steps {
			if b, ok := s.(assignStep); ok && b.slot == v.slot {
				if c, ok := b.to.(constant); ok {
					*end, a.steps = c, slices.Delete(a.steps, i, i+1)
				}
				break
			}
		}
	}
	_, key := a.key.(constant)
	_, value := a.value.(constant)
	a.fixed = key && value
}

// auxiliaries translates the rules that partial evaluation keeps besides the
// alternatives: complete rules whose bodies are tried one by one.
func (t *translator) auxiliaries(support []*ast.Module) error {
	for _, m := range support {
		for _, r := range m.Rules {
			if len(r.Head.Args) > 0 || r.Else != nil || r.Head.RuleKind() == ast.MultiValue || r.Head.HasDynamicRef() {
				return t.no("%s leaves rules with arguments, else or keys", r.Head.Ref())
			}
			t.support[m.Package.Path.Extend(r.Head.Ref()).String()] = &auxiliary{loc: t.loc}
		}
	}
	for _, m := range support {
		for _, r := range m.Rules {
			aux := t.support[m.Package.Path.Extend(r.Head.Ref()).String()]
			if r.Default {
				aux.fallback = r.Head.Value.Value
				continue
			}
			t.slots = map[ast.Var]int{}
			steps, err := t.body(r.Body)
			if err != nil {
				return err
			}
			value, err := t.term(r.Head.Value)
			if err != nil {
				return err
			}
			aux.bodies = append(aux.bodies, auxBody{steps, value})
		}
	}
	return nil
}

// index groups alternatives by the text they require, so that a table of a hundred
// families needs one look-up per row.
func (p *program) index() {
	for i := range p.alternatives {
		field, text, ok := p.alternatives[i].leading()
		if !ok {
			p.always = append(p.always, i)
			continue
		}
		at := slices.IndexFunc(p.byText, func(d dispatch) bool { return d.index == field })
		if at < 0 {
			at = len(p.byText)
			p.byText = append(p.byText, dispatch{index: field, to: map[string][]int{}})
		}
		p.byText[at].to[text] = append(p.byText[at].to[text], i)
	}
}

// leading returns the text that a field of the row must have, when that condition
// comes before any step that could fail.
func (a *alternative) leading() (field int, text string, ok bool) {
	for _, s := range a.steps {
		switch s := s.(type) {
		case textStep:
			if s.doc == 0 && (s.op == "eq" || s.op == "equal") {
				return s.index, s.than, true
			}
		case numberStep, textSetStep:
		default:
			return 0, "", false
		}
	}
	return 0, "", false
}

// match appends the numbers of the alternatives that hold for the frame, in four
// bytes each.
func (p *program) match(f *frame, found []byte) ([]byte, error) {
	var err error
	try := func(those []int) {
		for _, i := range those {
			if err != nil {
				return
			}
			var ok bool
			if ok, err = allHold(p.alternatives[i].steps, f); ok && err == nil {
				found = binary.LittleEndian.AppendUint32(found, uint32(i))
			}
		}
	}
	try(p.always)
	for i := range p.byText {
		d := &p.byText[i]
		try(d.to[f.docs[0].text(d.index)])
	}
	return found, err
}

// build returns the rule's value from the alternatives that matched.
func (p *program) build(f *frame, found []byte) (ast.Value, error) {
	set, object := ast.NewSet(), ast.NewObject()
	for ; len(found) > 0; found = found[4:] {
		a := &p.alternatives[binary.LittleEndian.Uint32(found)]
		key, err := a.key.eval(f)
		if err != nil {
			return nil, err
		}
		value, err := a.value.eval(f)
		if err != nil {
			return nil, err
		}
		if key == nil || value == nil {
			continue
		}
		term := ast.NewTerm(key)
		if p.set {
			set.Add(term)
			continue
		}
		if old := object.Get(term); old != nil && ast.Compare(old.Value, value) != 0 {
			return nil, &topdown.Error{
				Code: topdown.ConflictErr, Location: p.loc,
				Message: fmt.Sprintf("%s[%s] has more than one value", p.rule, key),
			}
		}
		object.Insert(term, ast.NewTerm(value))
	}
	if p.set {
		return set, nil
	}
	return object, nil
}

// fixed reports whether the alternatives always give the same value.
func (p *program) fixed(found []byte) bool {
	for ; len(found) > 0; found = found[4:] {
		if !p.alternatives[binary.LittleEndian.Uint32(found)].fixed {
			return false
		}
	}
	return true
}
