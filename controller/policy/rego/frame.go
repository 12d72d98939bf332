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

// document is one of the documents in input.
type document interface {
	// field returns the index and kind of a field; ok is false when there is none.
	field(name string) (index int, of kind, ok bool)
	number(index int) float64
	text(index int) string
	label(index int, key string) (string, bool)
	// value returns a field, or the whole document for the index whole.
	value(index int) (ast.Value, error)
}

const whole = -1

// record is a document whose fields are read from a struct.
type record[T any] struct {
	fields []field[T]
	of     *T
	// made caches the values made so far. The last one is the whole document.
	made []ast.Value
}

func newRecord[T any](fields []field[T]) *record[T] {
	return &record[T]{fields: fields, made: make([]ast.Value, len(fields)+1)}
}

// set moves the record to another struct. It refuses NaN and infinite numbers.
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

// literal is a document given as a value.
type literal struct{ is ast.Value }

func (l *literal) field(string) (int, kind, bool)   { return 0, 0, false }
func (l *literal) number(int) float64               { return 0 }
func (l *literal) text(int) string                  { return "" }
func (l *literal) label(int, string) (string, bool) { return "", false }
func (l *literal) value(int) (ast.Value, error)     { return l.is, nil }

// frame is the state of a program: the input's documents and the variables.
type frame struct {
	docs  []document
	slots []ast.Value
	// perCall caches conditions that are the same for all rows: 0 unknown, 1 true, -1
	// false.
	perCall []int8
	// found are the alternatives that hold for the row.
	found []byte
	key   []byte
	calls topdown.BuiltinContext
}

// newFrame returns the frame of a call.
func (s *session) newFrame(ctx context.Context, docs []document, slots, once int) *frame {
	return &frame{docs: docs, slots: make([]ast.Value, slots), perCall: make([]int8, once), calls: topdown.BuiltinContext{
		Context: ctx, Metrics: metrics.NoOp(), Seed: s.seed, Cancel: s.cancel, Cache: builtins.Cache{},
		Time:         ast.NewTerm(ast.Number(strconv.FormatInt(s.call.Time.UnixNano(), 10))),
		Capabilities: s.policy.compiler.Capabilities(), InterQueryBuiltinValueCache: s.patterns,
	}}
}
