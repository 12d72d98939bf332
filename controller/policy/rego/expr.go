package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// expr is a term of a residual rule. A nil value means undefined.
type expr interface {
	eval(f *frame) (ast.Value, error)
}

// constant is a value known when the policy is loaded.
type constant struct{ is ast.Value }

func (c constant) eval(*frame) (ast.Value, error) { return c.is, nil }

// variable is a value bound by an earlier step.
type variable struct{ slot int }

func (v variable) eval(f *frame) (ast.Value, error) { return f.slots[v.slot], nil }

// member is a field of a document, or the whole document.
type member struct {
	doc, index int
}

func (m member) eval(f *frame) (ast.Value, error) { return f.docs[m.doc].value(m.index) }

// lookup follows a path of keys from a value. A key that is known at load is stored
// as a term.
type lookup struct {
	base expr
	path []key
}

type key struct {
	known *ast.Term
	found expr
}

func (k key) term(f *frame) (*ast.Term, error) {
	if k.known != nil {
		return k.known, nil
	}
	v, err := k.found.eval(f)
	if v == nil || err != nil {
		return nil, err
	}
	return ast.NewTerm(v), nil
}

func (l lookup) eval(f *frame) (ast.Value, error) {
	v, err := l.base.eval(f)
	for _, part := range l.path {
		if v == nil || err != nil {
			return nil, err
		}
		var key *ast.Term
		if key, err = part.term(f); key == nil || err != nil {
			return nil, err
		}
		v = get(v, key)
	}
	return v, err
}

// get returns the value of a key in a value; nil when undefined.
func get(v ast.Value, key *ast.Term) ast.Value {
	var found *ast.Term
	switch v := v.(type) {
	case ast.Object:
		found = v.Get(key)
	case *ast.Array:
		found = v.Get(key)
	case ast.Set:
		if v.Contains(key) {
			found = key
		}
	}
	if found == nil {
		return nil
	}
	return found.Value
}

// call is a built-in function and its arguments.
type call struct {
	fn   topdown.BuiltinFunc
	args []expr
	loc  *ast.Location
}

func (c call) eval(f *frame) (ast.Value, error) {
	operands := make([]*ast.Term, len(c.args))
	for i, arg := range c.args {
		v, err := arg.eval(f)
		if v == nil || err != nil {
			return nil, err
		}
		operands[i] = ast.NewTerm(v)
	}
	f.calls.Location = c.loc
	var out ast.Value
	err := c.fn(f.calls, operands, func(t *ast.Term) error {
		out = t.Value
		return nil
	})
	return out, err
}

// compared is a comparison of two values.
type compared struct {
	a, b  expr
	holds func(int) bool
}

func (c compared) eval(f *frame) (ast.Value, error) {
	a, err := c.a.eval(f)
	if a == nil || err != nil {
		return nil, err
	}
	b, err := c.b.eval(f)
	if b == nil || err != nil {
		return nil, err
	}
	return ast.Boolean(c.holds(ast.Compare(a, b))), nil
}

// tuple is an array whose elements are not all known at load.
type tuple struct{ of []expr }

func (t tuple) eval(f *frame) (ast.Value, error) {
	terms := make([]*ast.Term, len(t.of))
	for i, each := range t.of {
		v, err := each.eval(f)
		if v == nil || err != nil {
			return nil, err
		}
		terms[i] = ast.NewTerm(v)
	}
	return ast.NewArray(terms...), nil
}

// structure is an object whose values are not all known at load.
type structure struct{ keys, values []expr }

func (s structure) eval(f *frame) (ast.Value, error) {
	pairs := make([][2]*ast.Term, len(s.keys))
	for i := range s.keys {
		for k, each := range []expr{s.keys[i], s.values[i]} {
			v, err := each.eval(f)
			if v == nil || err != nil {
				return nil, err
			}
			pairs[i][k] = ast.NewTerm(v)
		}
	}
	return ast.NewObject(pairs...), nil
}

// auxiliary is a rule that the residual rules refer to. Its value is that of the
// bodies that succeed, which must agree, or else the default.
type auxiliary struct {
	bodies   []auxBody
	fallback ast.Value
	loc      *ast.Location
}

type auxBody struct {
	steps []step
	value expr
}

func (a *auxiliary) eval(f *frame) (ast.Value, error) {
	var out ast.Value
	for i := range a.bodies {
		ok, err := allHold(a.bodies[i].steps, f)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		v, err := a.bodies[i].value.eval(f)
		if err != nil {
			return nil, err
		}
		if v != nil && out != nil && ast.Compare(v, out) != 0 {
			return nil, &topdown.Error{Code: topdown.ConflictErr, Location: a.loc, Message: "complete rules must not produce multiple outputs"}
		}
		if v != nil {
			out = v
		}
	}
	if out == nil {
		out = a.fallback
	}
	return out, nil
}
