package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/record/journal"
	"spokeshave.dev/test/kit/eventually"
)

// defect is a part of the program that panics when it is asked about offerings of a zone.
type defect struct{ zone string }

func (defect) Info() policy.Info {
	return policy.Info{Name: "defect", Hooks: []policy.Hook{policy.HookRank}}
}

func (d defect) Rank(_ context.Context, in *policy.RankInput) ([]policy.RankAnswer, error) {
	for i := range in.Rows {
		if in.Rows[i].Zone == d.zone {
			panic("a defect")
		}
	}
	return make([]policy.RankAnswer, len(in.Rows)), nil
}

func (defect) Consolidate(context.Context, *policy.ConsolidateInput) ([]policy.ConsolidateAnswer, error) {
	return nil, policy.ErrNoOpinion
}

func (defect) Ceiling(context.Context, *policy.CeilingInput) (policy.CeilingAnswer, error) {
	return policy.CeilingAnswer{}, policy.ErrNoOpinion
}

// try is decide.Try of a program with the defect.
func (d defect) try(ctx context.Context, s *model.Snapshot, policies []policy.Policy, opts decide.Options) decide.Decision {
	return decide.Try(ctx, s, append(slices.Clone(policies), d), opts)
}

// keep has the controller keep a failed decision, and returns the record from the file that
// spokeshave failures would write.
func keep(t *testing.T, s *model.Snapshot, d *decide.Decision, opts decide.Options) *journal.Record {
	t.Helper()
	failures := &journal.Failures{Namespace: "spokeshave"}
	failures.Add(t.Context(), journal.Decided{Snapshot: s, Decision: d, Options: opts})
	var lines []json.RawMessage
	eventually.Ok(t, "the decision to be kept", func() (string, bool) {
		answer := httptest.NewRecorder()
		failures.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/failures", http.NoBody))
		err := json.Unmarshal(answer.Body.Bytes(), &lines)
		return fmt.Sprintf("%d records, %v", len(lines), err), err == nil && len(lines) == 1
	})
	path := filepath.Join(t.TempDir(), "failed.jsonl")
	if err := os.WriteFile(path, append(lines[0], '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	records, err := Read(path)
	if err != nil || len(records) != 1 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	return &records[0]
}

// TestPanicAgain: a decision that panicked, and was kept, panics again in the same way when it is
// replayed, and comes to the same bytes. Once the defect is mended, the replay shows what differs.
func TestPanicAgain(t *testing.T) {
	s := quickstart(t)
	opts := decide.Options{Disrupt: true, Search: true, Missing: []string{"budget"}}
	program := defect{zone: s.Catalogs[0].Types[0].Offerings[0].Zone}
	d := program.try(t.Context(), s, nil, opts)
	if len(d.Failures) == 0 || d.Failures[0].Kind != decide.Panicked {
		t.Fatalf("failures %+v", d.Failures)
	}
	record := keep(t, s, &d, opts)
	r, err := again(t.Context(), record, program.try)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Same {
		t.Errorf("it comes out differently: %s", r.Differences)
	}
	if len(r.Failures) != len(d.Failures) || !strings.Contains(r.Failures[0].Message, "a defect") || !strings.Contains(r.Failures[0].Stack, "panic_test.go") {
		t.Errorf("failures %+v, and %d of the decision", r.Failures, len(d.Failures))
	}
	if r, err = Again(t.Context(), record); err != nil || r.Same || len(r.Failures) > 0 || len(r.Differences) == 0 {
		t.Errorf("after the defect was mended: %+v, %v", r, err)
	}
}

// TestInconsistentIsNamed: a decision that panicked because its snapshot contradicts itself is not
// made again: what is wrong with the snapshot is said.
func TestInconsistentIsNamed(t *testing.T) {
	s := quickstart(t)
	s.Pools[0].Catalog = 99
	d := decide.Try(t.Context(), s, nil, decide.Options{})
	_, err := Again(t.Context(), keep(t, s, &d, decide.Options{}))
	if err == nil || !strings.Contains(err.Error(), "pools[0].catalog is 99, of 1") {
		t.Errorf("%v, want what is wrong with the snapshot", err)
	}
}
