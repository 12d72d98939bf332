package main

import (
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

// TestReport writes the table, and fails when a pod is missed.
func TestReport(t *testing.T) {
	missed := &contrast.Result{Name: "seed 1", Differences: []contrast.Difference{{Kind: contrast.Missed, Detail: "1 of 2 against 2"}}}
	for format, want := range map[string]string{"table": "1 of 2 against 2", "json": `"missed": 1`} {
		var out strings.Builder
		if err := report(&out, format, []*contrast.Result{missed}); err == nil {
			t.Errorf("%s: no error for a missed pod", format)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: %q lacks %q", format, out.String(), want)
		}
	}
}
