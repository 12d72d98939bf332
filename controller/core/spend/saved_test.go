package spend

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
)

// TestSave: consolidations are summed by day, each once, and a ledger that is stored and
// read again, as by the next leader, goes on where it was.
func TestSave(t *testing.T) {
	at := time.Date(2026, 3, 30, 23, 0, 0, 0, time.UTC)
	l := New(&model.Snapshot{Time: at})
	l = l.Save("command a", at, 100)
	l = l.Save("claim b", at.Add(30*time.Minute), 20)
	text, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if l, err = Decode(text); err != nil {
		t.Fatal(err)
	}
	l = l.Save("claim b", at.Add(31*time.Minute), 20) // its node is not gone yet
	l = l.Advance(&model.Snapshot{Time: at.AddDate(0, 0, 3)})
	l = l.Save("command c", at.Add(2*time.Hour), 5)
	day := time.Date(2026, 3, 30, 0, 0, 0, 0, time.UTC)
	want := []Saved{{Day: day, Count: 2, Rate: 120}, {Day: day.AddDate(0, 0, 1), Count: 1, Rate: 5}}
	if diff := cmp.Diff(want, l.Saved); diff != "" {
		t.Errorf("saved (-want +got):\n%s", diff)
	}
	if got, want := l.SavedSince(at.Add(4*time.Hour)), (Saved{Day: day.AddDate(0, 0, 1), Count: 1, Rate: 5}); got != want {
		t.Errorf("since the second day %+v, want %+v", got, want)
	}
}

// TestSaveIsBounded: neither days nor keys grow for ever.
func TestSaveIsBounded(t *testing.T) {
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	first := New(&model.Snapshot{Time: at})
	l := first
	for i := range 2 * savedDays {
		l = l.Save(fmt.Sprint(i), at.AddDate(0, 0, i), 1)
	}
	if len(l.Saved) != savedDays || len(l.SavedKeys) != savedKeys || !l.Saved[0].Day.Equal(at.AddDate(0, 0, savedDays)) {
		t.Errorf("%d days from %s, %d keys", len(l.Saved), l.Saved[0].Day, len(l.SavedKeys))
	}
	if first.Saved != nil || first.SavedKeys != nil {
		t.Error("Save has changed the ledger before")
	}
}
