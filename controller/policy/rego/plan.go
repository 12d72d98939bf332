package rego

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"spokeshave.dev/controller/core/policy"
)

// input is a document in input, with its name. The first of several is the row.
type input struct {
	name string
	doc  document
}

type inputs []input

// plan is how the rules of a hook are evaluated: by programs where partial
// evaluation makes one of a rule, and by OPA for each row otherwise.
type plan struct {
	programs []*program
	opaQuery query
	names    []*ast.Term
	// slots and once are the numbers of variables and cached conditions of a frame.
	slots, perCall int
}

// makePlan plans the hook's rules, or only those named.
func (p *Policy) makePlan(ctx context.Context, out *plan, hook policy.Hook, in inputs, only ...string) error {
	t := translator{support: map[string]*auxiliary{}, next: &out.slots, nextOnce: &out.perCall}
	for _, each := range in {
		t.names = append(t.names, each.name)
		t.docs = append(t.docs, each.doc)
		out.names = append(out.names, ast.StringTerm(each.name))
	}
	var rest []string
	for _, rule := range p.defined[hook] {
		if len(only) > 0 && !slices.Contains(only, rule) {
			continue
		}
		if note := p.slowBefore(hook, rule); note != "" {
			rest, p.notes = append(rest, rule), append(p.notes, note)
			continue
		}
		t.support = map[string]*auxiliary{}
		made, err := p.compileProgram(ctx, hook, rule, t)
		var slow *untranslatable
		switch {
		case err == nil:
			out.programs = append(out.programs, made)
		case errors.As(err, &slow):
			rest = append(rest, rule)
			p.notes = append(p.notes, at(slow.loc)+slowRule(hook, rule)+"which is slower: "+slow.what)
		default:
			return err
		}
	}
	var err error
	out.opaQuery, err = p.newQuery(hook, rest...)
	return err
}

// slowRule is the part of a note that names the rule which is left to OPA.
func slowRule(hook policy.Hook, rule string) string {
	return ": " + string(hook) + " " + rule + " is evaluated row by row, "
}

// slowBefore returns the note about a rule that an earlier compilation has left to OPA,
// "" for none.
func (p *Policy) slowBefore(hook policy.Hook, rule string) string {
	for _, note := range p.earlier {
		if strings.Contains(note, slowRule(hook, rule)) {
			return note
		}
	}
	return ""
}

func (p *plan) empty() bool { return len(p.programs) == 0 && p.opaQuery.empty() }

// newFrame returns the frame of a call.
func (p *plan) newFrame(ctx context.Context, s *session, docs ...document) *frame {
	return s.newFrame(ctx, docs, p.slots, p.perCall)
}

// match runs all programs and appends the alternatives that hold to key. fixed is
// true when rows with the same key have the same results.
func (p *plan) match(f *frame, key []byte) (_ []byte, fixed bool, err error) {
	fixed = true
	f.found = f.found[:0]
	for _, each := range p.programs {
		at := len(key)
		key = binary.LittleEndian.AppendUint32(key, 0)
		if key, err = each.match(f, key); err != nil {
			return key, false, err
		}
		found := key[at+4:]
		binary.LittleEndian.PutUint32(key[at:], uint32(len(found)))
		fixed = fixed && each.fixed(found)
	}
	f.found = append(f.found, key...)
	return key, fixed, nil
}

// evaluate yields the value of every rule for the row that was matched last.
func (p *plan) evaluate(ctx context.Context, s *session, f *frame, yield func(rule string, value ast.Value) error) error {
	if s.cancel.Cancelled() {
		return stopped()
	}
	found := f.found
	for _, each := range p.programs {
		size := binary.LittleEndian.Uint32(found)
		value, err := each.build(f, found[4:4+size])
		if err != nil {
			return err
		}
		found = found[4+size:]
		if err := yield(each.rule, value); err != nil {
			return err
		}
	}
	if p.opaQuery.empty() {
		return nil
	}
	document, err := p.document(f)
	if err != nil {
		return err
	}
	return s.run(ctx, &p.opaQuery, document, yield)
}

// decide matches the programs and yields the value of every rule.
func (p *plan) decide(ctx context.Context, s *session, f *frame, yield func(rule string, value ast.Value) error) error {
	var err error
	if f.key, _, err = p.match(f, f.key[:0]); err != nil {
		return err
	}
	return p.evaluate(ctx, s, f, yield)
}

// document returns the input for the rules that OPA evaluates.
func (p *plan) document(f *frame) (*ast.Term, error) {
	pairs := make([][2]*ast.Term, 0, len(f.docs))
	for i, doc := range f.docs {
		value, err := doc.value(whole)
		if err != nil {
			return nil, err
		}
		if value != nil {
			pairs = append(pairs, [2]*ast.Term{p.names[i], ast.NewTerm(value)})
		}
	}
	return ast.NewTerm(ast.NewObject(pairs...)), nil
}
