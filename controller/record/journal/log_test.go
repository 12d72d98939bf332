package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

func suspended() []policy.Suspension {
	return []policy.Suspension{{Namespace: "spokeshave", Name: "caps", Until: time.Date(2026, 3, 11, 10, 0, 0, 0, time.UTC)}}
}

func decided(id string) Decided {
	s := snapshot()
	s.Pools[0].Catalog = -1
	return Decided{
		Snapshot: s, Options: decide.Options{Disrupt: true, Missing: []string{"budget"}, Suspended: suspended()},
		Decision: &decide.Decision{
			ID: id, Time: time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC), Suspended: suspended(),
			Plan: model.Plan{Nodes: []model.PlannedNode{{Pods: []int32{0}, Options: []model.Option{{InstanceType: "m5.large", Price: 96_000}}}}},
			Ranked: []decide.Ranked{{
				Rows: []policy.RankRow{{InstanceType: "a", Billed: 3}, {InstanceType: "b", Billed: 1}, {InstanceType: "c", Billed: 2}},
				Outcome: policy.RankOutcome{
					Tiers:    [][]policy.Tier{{{Cost: 0.5}}, {{Cost: 1}}, {{Cost: 2}}},
					Excluded: map[int]policy.Exclusion{2: {Policy: "no-c", Reason: "c is old"}},
					Remarks:  [][]policy.Remark{{{Policy: "green", Reason: "a is new"}}, nil, nil},
				},
			}},
		},
		Policies: []policy.Contents{{Namespace: "spokeshave", Name: "p", Files: map[string][]byte{"p.rego": {0xff, 0}}}},
	}
}

// TestLog: decisions queued before the end are written, with their inputs.
func TestLog(t *testing.T) {
	var out bytes.Buffer
	log := NewLog(&Log{To: &out, Inputs: true, Namespace: "spokeshave"})
	for range waiting + 3 {
		log.Add(decided("d"))
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := log.Start(ctx); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var r Record
	if err := json.Unmarshal([]byte(lines[0]), &r); err != nil {
		t.Fatal(err)
	}
	if len(lines) != waiting || r.Missed != 3 || r.Version != Version {
		t.Errorf("%d lines, %d missed, version %d", len(lines), r.Missed, r.Version)
	}
	if !r.Asked.Disrupt || r.Asked.Missing[0] != "budget" || r.HourlyCost != 96_000 || r.Nodes[0].Best.InstanceType != "m5.large" {
		t.Errorf("%+v", r)
	}
	if !slices.Equal(r.Suspended, suspended()) || !slices.Equal(r.Asked.Options().Suspended, suspended()) {
		t.Errorf("suspended policies are %+v, and %+v for a replay", r.Suspended, r.Asked.Suspended)
	}
	if c := r.Candidates[0]; c.Asked != 3 || c.Best[0].InstanceType != "a" || c.Best[0].Price != 3_000_000 || len(c.Best) != 2 || c.Dropped[0].Reason != "c is old" || c.Best[0].Remarks[0].Reason != "a is new" || c.Best[1].Remarks != nil {
		t.Errorf("candidates %+v", c)
	}
	s, err := r.Unpack()
	if err != nil || s.Pods[0].Name != "web" || !bytes.Equal(r.Inputs.Policies[0].Files["p.rego"], []byte{0xff, 0}) {
		t.Errorf("inputs: %v %+v", err, r.Inputs.Policies)
	}
	r.Snapshot = "another"
	if _, err := r.Unpack(); err == nil || !strings.Contains(err.Error(), "its digest is") {
		t.Errorf("a snapshot of another decision: %v", err)
	}
}

type broken struct{ left int }

func (b *broken) Write(p []byte) (int, error) {
	if b.left--; b.left >= 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

// TestLogMissed: decisions that cannot be written are counted, and do not stop the log.
func TestLogMissed(t *testing.T) {
	log := NewLog(&Log{To: &broken{left: 2}})
	for range 3 {
		log.Add(decided("d"))
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := log.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if n := log.missed.Load(); n != 0 { // told by the third
		t.Errorf("%d missed are not told", n)
	}
	(*Log)(nil).Add(decided("none"))
}

// TestFile: the size of a log file is limited, and no line is split.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decisions.jsonl")
	for range 2 { // a restart goes on where it was
		f, err := OpenFile(path, 20)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			if _, err := f.Write([]byte("12345678\n")); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{path, path + ".1"} {
		text, err := os.ReadFile(name)
		if err != nil || string(text) != "12345678\n12345678\n" {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
}
