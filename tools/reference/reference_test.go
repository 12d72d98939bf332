package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

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
// with.
func TestSideBySide(t *testing.T) {
	const testdata = "../../cmd/spokeshave/testdata/"
	for format, want := range map[string]string{"table": "reference  ", "json": `"reference": [`} {
		var out, progress strings.Builder
		args := []string{"-f", testdata + "consolidate.yaml", "-catalog", testdata + "consolidate-catalog.json", "-time", "2026-01-01T00:00:00Z", "-o", format}
		if err := run(t.Context(), args, &out, &progress); err != nil {
			t.Errorf("%s: %v", format, err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: %s lacks %q", format, out.String(), want)
		}
		t.Log(out.String())
	}
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
