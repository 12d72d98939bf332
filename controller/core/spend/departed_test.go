package spend

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
)

// TestDeparturesOutlastRestarts: a ledger that was read back still knows what
// went within the hour, and when.
func TestDeparturesOutlastRestarts(t *testing.T) {
	start := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	went := func(claim string, after time.Duration, pods int) model.Departure {
		return model.Departure{Claim: claim, Pool: "general", Time: start.Add(after), Pods: pods}
	}
	l := New(&model.Snapshot{Time: start, Departed: []model.Departure{went("a", 0, 7)}})
	l = l.Advance(&model.Snapshot{Time: start.Add(30 * time.Minute), Departed: []model.Departure{went("a", 0, 7), went("b", 30*time.Minute, 3)}})
	text, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	l, err = Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	// The new replica sees b on its way out still, as if it had gone now.
	l = l.Advance(&model.Snapshot{Time: start.Add(45 * time.Minute), Departed: []model.Departure{went("b", 45*time.Minute, 1)}})
	if diff := cmp.Diff([]model.Departure{went("a", 0, 7), went("b", 30*time.Minute, 3)}, l.Departed); diff != "" {
		t.Errorf("after a restart -want +got\n%s", diff)
	}
	l = l.Advance(&model.Snapshot{Time: start.Add(time.Hour)})
	if diff := cmp.Diff([]model.Departure{went("b", 30*time.Minute, 3)}, l.Departed); diff != "" {
		t.Errorf("after an hour -want +got\n%s", diff)
	}
}
