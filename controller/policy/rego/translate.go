package rego

import (
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// untranslatable is the error about an expression that a program cannot run.
type untranslatable struct {
	loc  *ast.Location
	what string
}

func (u *untranslatable) Error() string { return at(u.loc) + ": " + u.what }

// translator converts the expressions of a residual rule to steps.
//
// Size: one method for each form of expression.
type translator struct {
	names    []string
	docs     []document
	support  map[string]*auxiliary
	slots    map[ast.Var]int
	next     *int
	nextOnce *int
	loc      *ast.Location
}

func (t *translator) no(format string, args ...any) error {
	return &untranslatable{t.loc, fmt.Sprintf(format, args...)}
}

func (t *translator) slot(v ast.Var) int {
	t.slots[v] = *t.next
	*t.next++
	return t.slots[v]
}

// body orders the expressions so that the variables of each are bound before it, and
// translates them.
func (t *translator) body(body ast.Body) ([]step, error) {
	rest := slices.Clone([]*ast.Expr(body))
	var steps []step
	for len(rest) > 0 {
		i := slices.IndexFunc(rest, t.ready)
		if i < 0 {
			t.locate(rest[0])
			return nil, t.no("%s looks for values of a variable", rest[0])
		}
		s, err := t.expression(rest[i])
		if err != nil {
			return nil, err
		}
		if s != nil {
			steps = append(steps, s)
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return steps, nil
}

func (t *translator) locate(e *ast.Expr) {
	if e.Location != nil && e.Location.File != "" {
		t.loc = e.Location
	}
}

// ready reports whether all variables of an expression are bound, except those that
// it binds itself.
func (t *translator) ready(e *ast.Expr) bool {
	if !e.IsCall() || e.Negated {
		return t.bound(e)
	}
	if !e.IsEquality() {
		terms := e.Operands()
		fn := ast.BuiltinMap[e.Operator().String()]
		if fn != nil && len(terms) == fn.Decl.Arity()+1 && t.free(terms[len(terms)-1]) {
			terms = terms[:len(terms)-1]
		}
		return !slices.ContainsFunc(terms, func(o *ast.Term) bool { return !t.bound(o) })
	}
	a, b := e.Operand(0), e.Operand(1)
	return t.bound(a) && (t.bound(b) || t.free(b)) || t.bound(b) && t.free(a)
}

// free reports whether a term is an unbound variable, or an array of unbound
// variables and bound terms.
func (t *translator) free(term *ast.Term) bool {
	switch v := term.Value.(type) {
	case ast.Var:
		return !t.bound(term)
	case *ast.Array:
		ok := true
		v.Foreach(func(e *ast.Term) {
			if _, is := e.Value.(ast.Var); !is {
				ok = ok && t.bound(e)
			}
		})
		return ok
	}
	return false
}

func (t *translator) bound(node any) bool {
	ok := true
	visit := func(v *ast.GenericVisitor, terms []*ast.Term) bool {
		for _, term := range terms {
			v.Walk(term)
		}
		return true
	}
	var visitor *ast.GenericVisitor
	visitor = ast.NewGenericVisitor(func(node any) bool {
		switch n := node.(type) {
		case *ast.Expr:
			if n.IsCall() {
				return visit(visitor, n.Operands())
			}
		case ast.Call:
			return visit(visitor, n[1:])
		case ast.Var:
			if _, known := t.slots[n]; !known && !n.Equal(ast.InputRootDocument.Value) && !n.Equal(ast.DefaultRootDocument.Value) {
				ok = false
			}
		}
		return !ok
	})
	visitor.Walk(node)
	return ok
}

// expression translates a condition. A condition that reads neither the row nor a
// variable has the same answer for all rows of a call.
func (t *translator) expression(e *ast.Expr) (step, error) {
	s, err := t.condition(e)
	if err != nil || !t.perCall(e) {
		return s, err
	}
	*t.nextOnce++
	return perCallStep{*t.nextOnce - 1, s}, nil
}

// perCall reports whether an expression only refers to documents other than the row.
func (t *translator) perCall(e *ast.Expr) bool {
	all := true
	ast.NewGenericVisitor(func(node any) bool {
		switch n := node.(type) {
		case ast.Ref:
			if n[0].Equal(ast.InputRootDocument) {
				all = all && len(n) > 1 && !n[1].Equal(ast.StringTerm(t.names[0]))
			} else if ast.BuiltinMap[n.String()] == nil {
				all = false
			}
		case ast.Var:
			if ast.BuiltinMap[string(n)] == nil && !n.Equal(ast.InputRootDocument.Value) {
				_, known := t.slots[n]
				all = all && !known
			}
		}
		return !all
	}).Walk(e)
	return all
}

func (t *translator) condition(e *ast.Expr) (step, error) {
	t.locate(e)
	if len(e.With) > 0 {
		return nil, t.no("with is not translated")
	}
	if e.Negated {
		return t.negation(e)
	}
	switch terms := e.Terms.(type) {
	case *ast.Term:
		of, err := t.term(terms)
		return exprStep{of}, err
	case []*ast.Term:
		return t.statement(terms)
	}
	return nil, t.no("%s is not translated", e)
}

// statement translates a call that stands as a condition.
func (t *translator) statement(terms []*ast.Term) (step, error) {
	name, operands := terms[0].String(), terms[1:]
	if name == ast.Equality.Name {
		return t.unify(operands[0], operands[1])
	}
	fn := ast.BuiltinMap[name]
	if fn != nil && len(operands) == fn.Decl.Arity()+1 {
		last := len(operands) - 1
		value, err := t.invoke(name, operands[:last])
		if err != nil {
			return nil, err
		}
		return t.assign(operands[last], value)
	}
	if s := t.fieldComparison(name, operands); s != nil {
		return s, nil
	}
	of, err := t.invoke(name, operands)
	return exprStep{of}, err
}

func (t *translator) unify(a, b *ast.Term) (step, error) {
	if !t.bound(a) || t.bound(b) && !simple(b) {
		a, b = b, a
	}
	if t.bound(a) && t.bound(b) {
		if s := t.fieldComparison(ast.Equality.Name, []*ast.Term{a, b}); s != nil {
			return s, nil
		}
	}
	value, err := t.term(a)
	if err != nil {
		return nil, err
	}
	return t.assign(b, value)
}

func simple(term *ast.Term) bool {
	_, composite := term.Value.(*ast.Array)
	return !composite
}

// assign binds a pattern to a value, or compares the two.
func (t *translator) assign(pattern *ast.Term, value expr) (step, error) {
	if t.bound(pattern) {
		want, err := t.term(pattern)
		return exprStep{compared{want, value, func(c int) bool { return c == 0 }}}, err
	}
	switch p := pattern.Value.(type) {
	case ast.Var:
		return assignStep{t.slot(p), value}, nil
	case *ast.Array:
		parts := make([]patternElement, p.Len())
		for i := range parts {
			if v, ok := p.Elem(i).Value.(ast.Var); ok && !t.bound(p.Elem(i)) {
				parts[i].slot = t.slot(v)
				continue
			}
			equal, err := t.term(p.Elem(i))
			if err != nil {
				return nil, err
			}
			parts[i].equal = equal
		}
		return destructureStep{parts, value}, nil
	}
	return nil, t.no("%s looks for values of a variable", pattern)
}

// term translates a term whose variables are bound.
func (t *translator) term(term *ast.Term) (expr, error) {
	switch v := term.Value.(type) {
	case ast.Var:
		slot, ok := t.slots[v]
		if !ok {
			return nil, t.no("the variable %s has no value", v)
		}
		return variable{slot}, nil
	case ast.Ref:
		return t.reference(v)
	case ast.Call:
		return t.invoke(v[0].String(), v[1:])
	}
	if term.IsGround() && !refers(term) {
		return constant{term.Value}, nil
	}
	switch v := term.Value.(type) {
	case *ast.Array:
		of := make([]expr, v.Len())
		for i := range of {
			var err error
			if of[i], err = t.term(v.Elem(i)); err != nil {
				return nil, err
			}
		}
		return tuple{of}, nil
	case ast.Object:
		return t.structure(v)
	}
	return nil, t.no("%s is not translated", term)
}

func (t *translator) structure(v ast.Object) (expr, error) {
	var out structure
	err := v.Iter(func(key, value *ast.Term) error {
		k, err := t.term(key)
		if err != nil {
			return err
		}
		x, err := t.term(value)
		out.keys, out.values = append(out.keys, k), append(out.values, x)
		return err
	})
	return out, err
}

// refers reports whether a term contains anything that must be evaluated.
func refers(term *ast.Term) bool {
	found := false
	ast.NewGenericVisitor(func(node any) bool {
		switch node.(type) {
		case ast.Ref, ast.Call, *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension, ast.Var:
			found = true
		}
		return found
	}).Walk(term)
	return found
}

func (t *translator) reference(ref ast.Ref) (expr, error) {
	if !ref[0].Equal(ast.InputRootDocument) {
		if aux := t.support[ref.String()]; aux != nil {
			return aux, nil
		}
		return t.elsewhere(ref)
	}
	if len(ref) < 2 {
		return nil, t.no("all of input is looked at")
	}
	name, _ := ref[1].Value.(ast.String)
	doc := slices.Index(t.names, string(name))
	if doc < 0 {
		return nil, t.no("%s is not translated", ref)
	}
	base, rest := member{doc, whole}, ref[2:]
	if len(rest) > 0 {
		if name, ok := rest[0].Value.(ast.String); ok {
			if index, _, found := t.docs[doc].field(string(name)); found {
				base.index, rest = index, rest[1:]
			}
		}
	}
	return t.path(base, rest)
}

// elsewhere translates a reference that does not begin at the input: a variable's
// value.
func (t *translator) elsewhere(ref ast.Ref) (expr, error) {
	v, ok := ref[0].Value.(ast.Var)
	if slot, bound := t.slots[v]; ok && bound {
		return t.path(variable{slot}, ref[1:])
	}
	return nil, t.no("%s is not translated", ref)
}

func (t *translator) path(base expr, rest ast.Ref) (expr, error) {
	if len(rest) == 0 {
		return base, nil
	}
	out := lookup{base: base}
	for _, part := range rest {
		if !t.bound(part) {
			return nil, t.no("a variable runs over the keys of a document")
		}
		found, err := t.term(part)
		if err != nil {
			return nil, err
		}
		k := key{found: found}
		if c, ok := found.(constant); ok {
			k.known = ast.NewTerm(c.is)
		}
		out.path = append(out.path, k)
	}
	return out, nil
}

func (t *translator) invoke(name string, operands []*ast.Term) (expr, error) {
	fn, impl := ast.BuiltinMap[name], topdown.GetBuiltin(name)
	if fn == nil || impl == nil && comparison(name) == nil || fn.Relation || len(operands) != fn.Decl.Arity() {
		return nil, t.no("%s is not translated", name)
	}
	args := make([]expr, len(operands))
	for i, o := range operands {
		var err error
		if args[i], err = t.term(o); err != nil {
			return nil, err
		}
	}
	if holds := comparison(name); holds != nil {
		return compared{args[0], args[1], holds}, nil
	}
	return call{fn: impl, args: args, loc: t.loc}, nil
}
