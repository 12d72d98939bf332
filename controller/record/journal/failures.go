package journal

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"

	"spokeshave.dev/controller/core/crash"
	"spokeshave.dev/controller/core/decide"
)

const (
	// failuresKept is how many failed decisions are kept, each with another failure.
	failuresKept = 5
	// failureBytes is the size of the records of all failed decisions together, in
	// bytes. The newest one is kept whatever its size.
	failureBytes = 32 << 20
)

// Failures keeps in memory the latest decisions that met a defect, with all that a
// replay needs. Of decisions that failed in the same way it keeps the first. The zero
// value is ready but for Namespace.
type Failures struct {
	// Namespace is the controller's own.
	Namespace string

	mu     sync.Mutex
	failed []failedDecision
	busy   sync.WaitGroup
}

// failedDecision is a record as JSON. The record is nil while it is being made.
type failedDecision struct {
	key    string
	record json.RawMessage
}

// Add keeps a decision that has failures. It encodes the decision on a goroutine of its
// own. A nil *Failures keeps nothing.
func (f *Failures) Add(ctx context.Context, in Decided) {
	key := failureKey(in.Decision)
	if f == nil || key == "" || !f.begin(key) {
		return
	}
	f.busy.Go(func() {
		var raw json.RawMessage
		err := crash.Do(func() error {
			r, err := in.keptRecord(f.Namespace)
			if err != nil {
				return err
			}
			raw, err = json.Marshal(r)
			return err
		})
		if err != nil {
			logr.FromContextOrDiscard(ctx).Error(err, "a failed decision is not kept", "stack", crash.Stack(err))
		}
		f.end(key, raw)
	})
}

// keptRecord returns the record of the decision with its inputs.
func (in *Decided) keptRecord(namespace string) (*Record, error) {
	r, err := NewRecord(in)
	if err != nil {
		return nil, err
	}
	return r, r.Keep(in, namespace)
}

// failureKey is equal for decisions that failed in the same way, "" for those that did not
// fail.
func failureKey(d *decide.Decision) string {
	parts := make([]string, 0, len(d.Failures))
	for i := range d.Failures {
		parts = append(parts, d.Failures[i].String())
	}
	return strings.Join(parts, "\n")
}

// begin reserves a place for the failure, unless one like it is kept.
func (f *Failures) begin(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.ContainsFunc(f.failed, func(d failedDecision) bool { return d.key == key }) {
		return false
	}
	f.failed = append(f.failed, failedDecision{key: key})
	if len(f.failed) > failuresKept {
		f.failed = slices.Delete(f.failed, 0, len(f.failed)-failuresKept)
	}
	return true
}

// end keeps the record of the failure, and drops the oldest records beyond the limit.
func (f *Failures) end(key string, record json.RawMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	total := 0
	for i := range f.failed {
		if f.failed[i].key == key {
			f.failed[i].record = record
		}
		total += len(f.failed[i].record)
	}
	for total > failureBytes && len(f.failed) > 1 {
		total -= len(f.failed[0].record)
		f.failed = slices.Delete(f.failed, 0, 1)
	}
}

// ServeHTTP answers with the records as JSON, oldest first. They are written one by one: all
// together take as much memory again.
func (f *Failures) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	f.mu.Lock()
	var out []json.RawMessage
	for i := range f.failed {
		if f.failed[i].record != nil {
			out = append(out, f.failed[i].record)
		}
	}
	f.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	before := "["
	for _, record := range out {
		// A client that closes the connection needs no handling.
		_, _ = io.WriteString(w, before)
		_, _ = w.Write(record)
		before = ","
	}
	if len(out) == 0 {
		_, _ = io.WriteString(w, before)
	}
	_, _ = io.WriteString(w, "]\n")
}
