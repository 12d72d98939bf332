package rego

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// step is a condition of a residual rule.
type step interface {
	// run reports whether the condition holds.
	run(f *frame) (bool, error)
}

// allHold runs steps in order until one does not hold.
func allHold(steps []step, f *frame) (bool, error) {
	for _, s := range steps {
		if ok, err := s.run(f); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// exprStep holds when the expression is defined and not false.
type exprStep struct{ of expr }

func (t exprStep) run(f *frame) (bool, error) {
	v, err := t.of.eval(f)
	return v != nil && v != ast.Value(ast.Boolean(false)), err
}

// perCallStep is a condition with the same answer for all rows of a call.
type perCallStep struct {
	slot int
	cond step
}

func (o perCallStep) run(f *frame) (bool, error) {
	if known := f.perCall[o.slot]; known != 0 {
		return known > 0, nil
	}
	ok, err := o.cond.run(f)
	if err == nil {
		f.perCall[o.slot] = -1
		if ok {
			f.perCall[o.slot] = 1
		}
	}
	return ok, err
}

// negatedStep holds when the condition does not hold. The terms in about must still be
// defined, because Rego evaluates the arguments before it negates.
type negatedStep struct {
	about []expr
	cond  step
}

func (n negatedStep) run(f *frame) (bool, error) {
	for _, each := range n.about {
		if v, err := each.eval(f); v == nil || err != nil {
			return false, err
		}
	}
	ok, err := n.cond.run(f)
	return !ok, err
}

// assignStep gives a variable its value.
type assignStep struct {
	slot int
	to   expr
}

func (b assignStep) run(f *frame) (bool, error) {
	v, err := b.to.eval(f)
	f.slots[b.slot] = v
	return v != nil, err
}

// destructureStep splits an array into variables and values that must be equal.
type destructureStep struct {
	pattern []patternElement
	from    expr
}

// patternElement is an element of a pattern: a variable to bind, or a value to compare with.
type patternElement struct {
	slot  int
	equal expr
}

func (t destructureStep) run(f *frame) (bool, error) {
	v, err := t.from.eval(f)
	array, ok := v.(*ast.Array)
	if err != nil || !ok || array.Len() != len(t.pattern) {
		return false, err
	}
	for i, p := range t.pattern {
		if p.equal == nil {
			f.slots[p.slot] = array.Elem(i).Value
			continue
		}
		want, err := p.equal.eval(f)
		if err != nil || want == nil || ast.Compare(want, array.Elem(i).Value) != 0 {
			return false, err
		}
	}
	return true, nil
}

// numberStep compares a field with a number known at load.
type numberStep struct {
	doc   int
	index int
	op    string
	than  float64
}

func (n numberStep) run(f *frame) (bool, error) {
	v := f.docs[n.doc].number(n.index)
	switch n.op {
	case "lt":
		return v < n.than, nil
	case "lte":
		return v <= n.than, nil
	case "gt":
		return v > n.than, nil
	case "gte":
		return v >= n.than, nil
	case "neq":
		return v != n.than, nil
	default:
		return v == n.than, nil
	}
}

// textStep compares a field with a text known at load.
type textStep struct {
	doc   int
	index int
	op    string
	than  string
}

func (t textStep) run(f *frame) (bool, error) {
	return compareTexts(f.docs[t.doc].text(t.index), t.op, t.than), nil
}

// labelStep compares one of a field's labels with a text known at load. An absent
// label is undefined, and no comparison with it holds.
type labelStep struct {
	textStep
	key string
}

func (l labelStep) run(f *frame) (bool, error) {
	v, ok := f.docs[l.doc].label(l.index, l.key)
	return ok && compareTexts(v, l.op, l.than), nil
}

func compareTexts(v, op, than string) bool {
	switch op {
	case "lt":
		return v < than
	case "lte":
		return v <= than
	case "gt":
		return v > than
	case "gte":
		return v >= than
	case "neq":
		return v != than
	case "startswith":
		return strings.HasPrefix(v, than)
	case "endswith":
		return strings.HasSuffix(v, than)
	case "contains":
		return strings.Contains(v, than)
	default:
		return v == than
	}
}

// textSetStep looks a field up in a set known at load.
type textSetStep struct {
	doc   int
	index int
	set   map[string]bool
}

func (t textSetStep) run(f *frame) (bool, error) { return t.set[f.docs[t.doc].text(t.index)], nil }
