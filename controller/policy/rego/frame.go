package rego

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/topdown/builtins"
)

// document is one of the documents below input.
type document interface {
	// field finds a member; ok is false when there is none of this name.
	field(name string) (index int, of kind, ok bool)
	number(index int) float64
	text(index int) string
	label(index int, key string) (string, bool)
	// value is a member, or the whole document for the index whole.
	value(index int) (ast.Value, error)
}

const whole = -1

// record is the document made of a struct, by its fields.
type record[T any] struct {
	fields []field[T]
	of     *T
	// made holds the values made so far, the last one of the whole.
	made []ast.Value
}

func newRecord[T any](fields []field[T]) *record[T] {
	return &record[T]{fields: fields, made: make([]ast.Value, len(fields)+1)}
}

// set moves the record to another struct, and refuses numbers that are none.
func (r *record[T]) set(of *T) error {
	r.of = of
	clear(r.made)
	for i := range r.fields {
		if f := &r.fields[i]; f.kind == number {
			if v := f.number(of); math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s is not a finite number", f.name)
			}
		}
	}
	return nil
}

func (r *record[T]) field(name string) (int, kind, bool) {
	for i := range r.fields {
		if r.fields[i].name == name {
			return i, r.fields[i].kind, true
		}
	}
	return 0, 0, false
}

func (r *record[T]) number(i int) float64 { return r.fields[i].number(r.of) }
func (r *record[T]) text(i int) string    { return r.fields[i].text(r.of) }

func (r *record[T]) label(i int, key string) (string, bool) {
	value, ok := r.fields[i].labels(r.of)[key]
	return value, ok
}

func (r *record[T]) value(i int) (ast.Value, error) {
	at := i
	if i == whole {
		at = len(r.fields)
	}
	if r.of == nil || r.made[at] != nil {
		return r.made[at], nil
	}
	var t *ast.Term
	var err error
	if i == whole {
		t, err = object(r.fields, r.of)
	} else {
		t, err = r.fields[i].term(r.of)
	}
	if err != nil {
		return nil, err
	}
	r.made[at] = t.Value
	return t.Value, nil
}

// literal is a document that is there as a value.
type literal struct{ is ast.Value }

func (l *literal) field(string) (int, kind, bool)   { return 0, 0, false }
func (l *literal) number(int) float64               { return 0 }
func (l *literal) text(int) string                  { return "" }
func (l *literal) label(int, string) (string, bool) { return "", false }
func (l *literal) value(int) (ast.Value, error)     { return l.is, nil }

// frame is what a program runs on: the input's documents, and the variables.
type frame struct {
	docs  []document
	slots []ast.Value
	// once are the answers that hold for all rows: 0 unknown, 1 yes, -1 no.
	once []int8
	// found are the alternatives that match the row.
	found []byte
	key   []byte
	calls topdown.BuiltinContext
}

// newFrame opens the frame of a call.
func (s *session) newFrame(ctx context.Context, docs []document, slots, once int) *frame {
	return &frame{docs: docs, slots: make([]ast.Value, slots), once: make([]int8, once), calls: topdown.BuiltinContext{
		Context: ctx, Metrics: metrics.NoOp(), Seed: s.seed, Cancel: s.cancel, Cache: builtins.Cache{},
		Time:         ast.NewTerm(ast.Number(strconv.FormatInt(s.call.Time.UnixNano(), 10))),
		Capabilities: s.policy.compiler.Capabilities(),
	}}
}
