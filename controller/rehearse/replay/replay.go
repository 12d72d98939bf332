package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/record/journal"
	"spokeshave.dev/controller/rehearse/scenario"
)

// Read reads the records of a decision log, or of a file with a single record. Files
// may be in gzip.
func Read(path string) ([]journal.Record, error) {
	raw, err := scenario.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []journal.Record
	for dec := json.NewDecoder(bytes.NewReader(raw)); ; {
		var r journal.Record
		err := dec.Decode(&r)
		switch {
		case errors.Is(err, io.EOF) && len(out) == 0:
			return nil, fmt.Errorf("%s: holds no record", path)
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("%s: record %d: %w", path, len(out)+1, err)
		case r.Version != journal.Version || r.ID == "" || len(r.Decision) == 0:
			return nil, fmt.Errorf("%s: record %d: not a record of version %d of a decision log", path, len(out)+1, journal.Version)
		}
		out = append(out, r)
	}
}

// Result is a replayed decision.
type Result struct {
	Decision string    `json:"decision"`
	Time     time.Time `json:"time"`
	// Same says that the bytes are equal to the recorded ones.
	Same bool `json:"same"`
	// Differences describe some of the differences when they are not.
	Differences []string `json:"differences,omitempty"`
	// Bytes is the length of the recorded decision.
	Bytes int `json:"bytes"`
	// Failures are the defects that the replayed decision met.
	Failures []Failure `json:"failures,omitempty"`
}

// Failure is a defect of this program, with the stack if it was a panic.
type Failure struct {
	Message string `json:"message"`
	Stack   string `json:"stack,omitempty"`
}

// Again makes a recorded decision again with the policies of the record. A decision that
// met a defect meets it again.
func Again(ctx context.Context, r *journal.Record) (*Result, error) { return again(ctx, r, decide.Try) }

// try is decide.Try.
type try func(context.Context, *model.Snapshot, []policy.Policy, decide.Options) decide.Decision

func again(ctx context.Context, r *journal.Record, decideAgain try) (_ *Result, err error) {
	s, err := r.Unpack()
	if err != nil {
		return nil, err
	}
	policies, done := reload(ctx, r, s.Time)
	defer func() { err = errors.Join(err, done()) }()
	d := decideAgain(ctx, s, policies, r.Asked.Options())
	got, err := json.Marshal(&d)
	if err != nil {
		return nil, fmt.Errorf("encode decision %s: %w", r.ID, err)
	}
	var want bytes.Buffer // a record may have been formatted by hand
	if err := json.Compact(&want, r.Decision); err != nil {
		return nil, fmt.Errorf("read decision %s: %w", r.ID, err)
	}
	out := &Result{Decision: r.ID, Time: r.Time, Same: bytes.Equal(want.Bytes(), got), Bytes: want.Len()}
	if !out.Same {
		out.Differences = differences(want.Bytes(), got)
	}
	for i := range d.Failures {
		f := &d.Failures[i]
		out.Failures = append(out.Failures, Failure{Message: f.String(), Stack: f.Stack})
	}
	return out, nil
}

// reload loads the policies of a record. A policy that could not be loaded when the
// decision was made is rejected again, and so has the same effect. done releases the
// policies.
func reload(ctx context.Context, r *journal.Record, now time.Time) (policies []policy.Policy, done func() error) {
	scopes := map[string]policy.Scope{}
	for _, c := range r.Inputs.Policies {
		scopes[c.Namespace] = policy.Scope{NodePools: []string{"*"}, FailClosed: true} // as it was before there were scopes
		if c.Scope != nil {
			scopes[c.Namespace] = *c.Scope
		}
	}
	l := load.New(load.Config{Namespace: r.Inputs.Namespace, Scopes: scopes, Engines: engine.All(), Now: func() time.Time { return now }})
	var keys []load.Key
	for _, c := range r.Inputs.Policies {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name}, Data: map[string]string{}, BinaryData: map[string][]byte{}}
		for name, file := range c.Files {
			if binary(name) {
				cm.BinaryData[name] = file
			} else {
				cm.Data[name] = string(file)
			}
		}
		// The policy's author got this error when the decision was made.
		_, _ = l.Apply(ctx, cm)
		keys = append(keys, load.Key{Namespace: c.Namespace, Name: c.Name})
	}
	for _, p := range l.Policies() {
		policies = append(policies, policy.Repeat(p, r.Policies))
	}
	return policies, func() error {
		var errs []error
		for _, k := range keys {
			_, err := l.Delete(ctx, k)
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}
}

// binary reports whether a ConfigMap holds the file in binaryData.
func binary(name string) bool { return name == "module.wasm" || name == "module.wasm.gz" }
