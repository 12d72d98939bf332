package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/rehearse/scenario"
	"spokeshave.dev/tools/reference/contrast"
	"spokeshave.dev/tools/reference/handmade"
	"spokeshave.dev/tools/reference/oracle"
)

// TestNothingIsMissed asks Karpenter's scheduler about the first scenarios of every
// kind; `make reference` asks about a thousand.
func TestNothingIsMissed(t *testing.T) {
	oracle.Register()
	placed := 0
	for seed := range uint64(24) {
		r, err := contrast.Run(t.Context(), seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		placed += r.Theirs.Placed
		for _, d := range r.Differences {
			if d.Kind == contrast.Missed {
				t.Errorf("%s: %s", r.Name, d.Detail)
			}
		}
	}
	if placed == 0 {
		t.Error("the reference places nothing: it is not asked as it should be")
	}
}

// TestMended: scenarios of which the reference once placed more pods than we did, or more
// of a higher priority, for limits of NodePools, for minValues, for zones that no node can
// come to, and for spot options that pods of the same node do not allow.
func TestMended(t *testing.T) {
	oracle.Register()
	for _, seed := range []uint64{30, 84, 461, 763, 822, 1071, 1453, 1802, 1931} {
		r, err := contrast.Run(t.Context(), seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range r.Differences {
			if d.Kind == contrast.Missed {
				t.Errorf("%s: %s", r.Name, d.Detail)
			}
		}
	}
}

// TestHandmade: no pod of the scenarios written by hand is missed.
func TestHandmade(t *testing.T) {
	oracle.Register()
	cases, err := handmade.Cases()
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) < 120 {
		t.Errorf("%d scenarios, want at least 120", len(cases))
	}
	for _, c := range cases {
		r, err := contrast.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range r.Differences {
			if d.Kind == contrast.Missed {
				t.Errorf("%s: %s", r.Name, d.Detail)
			}
		}
	}
}

// TestReport writes the table, and fails for a defect here and for nothing else.
func TestReport(t *testing.T) {
	for _, kind := range contrast.Kinds() {
		d := []contrast.Difference{{Kind: kind, Detail: "1 of 2 against 2"}}
		for name, r := range map[string]*report{
			"plan":          {Cases: []*contrast.Result{{Name: "seed 1", Differences: d}}},
			"consolidation": {Consolidations: []*contrast.Consolidated{{Name: "seed 6", Differences: d}}},
		} {
			for format, want := range map[string]string{"table": "1 of 2 against 2", "json": fmt.Sprintf("%q: 1", kind)} {
				var out strings.Builder
				if err := r.write(&out, format); errors.Is(err, errDefect) != slices.Contains(contrast.Defects(), kind) {
					t.Errorf("%s, %s of a %s: error %v", format, kind, name, err)
				}
				if !strings.Contains(out.String(), want) {
					t.Errorf("%s, %s of a %s: %q lacks %q", format, kind, name, out.String(), want)
				}
			}
		}
	}
}

// TestSideBySide shows both answers for the manifests that spokeshave simulate is tested
// with, and the same for a snapshot of them.
func TestSideBySide(t *testing.T) {
	const manifests, prices = "../../cmd/spokeshave/testdata/consolidate.yaml", "../../cmd/spokeshave/testdata/consolidate-catalog.json"
	at := []string{"-catalog", prices, "-time", "2026-01-01T00:00:00Z"}
	table := sideBySide(t, append(at, "-f", manifests)...)
	for _, want := range []string{"ours       Empty          empty ", "reference  empty          empty ", "half-a", "do-not-disrupt", "consolidationPolicy", "Can't replace with a cheaper node"} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is not in\n%s", want, table)
		}
	}
	var told beside
	if err := json.Unmarshal([]byte(sideBySide(t, append(at, "-f", manifests, "-o", "json")...)), &told); err != nil {
		t.Fatal(err)
	}
	if len(told.Ours) != 2 || len(told.Theirs) != 1 || told.End == nil || len(told.Kept) == 0 {
		t.Errorf("told %+v", told)
	}
	if diff := cmp.Diff(table, sideBySide(t, "-f", snapshot(t, manifests, prices))); diff != "" {
		t.Errorf("-manifests +snapshot\n%s", diff)
	}
}

// sideBySide is what the command writes.
func sideBySide(t *testing.T, args ...string) string {
	t.Helper()
	var out, progress strings.Builder
	if err := run(t.Context(), args, &out, &progress); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out.String()
}

// snapshot writes a snapshot of the manifests into a file, as spokeshave snapshot does.
func snapshot(t *testing.T, path, prices string) string {
	t.Helper()
	m := manifests{catalog: prices, at: "2026-01-01T00:00:00Z", paths: []string{path}}
	c, err := m.read()
	if err != nil {
		t.Fatal(err)
	}
	taken := &scenario.Taken{APIVersion: scenario.TakenAPIVersion, Kind: scenario.TakenKind, Snapshot: *c.Snapshot}
	if err := taken.SetDigest(); err != nil {
		t.Fatal(err)
	}
	var raw bytes.Buffer
	if err := taken.WriteCompressed(&raw); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cluster.json.gz")
	if err := os.WriteFile(file, raw.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestSeededConsolidations consolidates the first seeded clusters both ways; make reference
// does so with a hundred.
func TestSeededConsolidations(t *testing.T) {
	oracle.Register()
	removed := 0
	for _, c := range runningFrom(84, 8) {
		r, err := contrast.Consolidate(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		removed += len(r.Theirs.Removed)
		for _, d := range r.Differences {
			if slices.Contains(contrast.Defects(), d.Kind) {
				t.Errorf("%s: %s: %s", r.Name, d.Kind, d.Detail)
			}
		}
	}
	if removed == 0 {
		t.Error("the reference removes nothing: it is not asked as it should be")
	}
}

// TestConsolidations: of each cluster written by hand, both sides remove the nodes that
// its entry names.
func TestConsolidations(t *testing.T) {
	oracle.Register()
	cases, err := handmade.Consolidations()
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) < 40 {
		t.Errorf("%d clusters, want at least 40", len(cases))
	}
	for _, c := range cases {
		r, err := contrast.Consolidate(t.Context(), c.Case)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range r.Differences {
			if slices.Contains(contrast.Defects(), d.Kind) {
				t.Errorf("%s: %s: %s", r.Name, d.Kind, d.Detail)
			}
		}
		if !slices.Equal(r.Ours.Removed, c.Ours) {
			t.Errorf("%s: we remove %v, want %v", r.Name, r.Ours.Removed, c.Ours)
		}
		if !slices.Equal(r.Theirs.Removed, c.Theirs) {
			t.Errorf("%s: the reference removes %v, want %v", r.Name, r.Theirs.Removed, c.Theirs)
		}
	}
}
