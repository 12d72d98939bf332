package isolate

import (
	"strings"
	"testing"
)

// TestVerdictsAreBounded: an engine remembers so many verdicts, and none with long notes: a process that
// compiles a stranger's policy has written them.
func TestVerdictsAreBounded(t *testing.T) {
	var v verdicts
	of := func(i int) digest { return digest{byte(i), byte(i >> 8)} }
	for i := range 3 * maxVerdicts {
		v.keep(of(0), &loaded{Holds: 7}) // comes again and again
		v.keep(of(i), &loaded{Holds: uint64(i)})
	}
	v.keep(of(1000), &loaded{Notes: []string{strings.Repeat("x", maxVerdictNotes), "y"}})
	if len(v.of) != maxVerdicts || len(v.latest) != maxVerdicts {
		t.Errorf("%d verdicts, %d in order", len(v.of), len(v.latest))
	}
	last := 3*maxVerdicts - 1
	for i, want := range map[int]bool{0: true, 1: false, last - maxVerdicts: false, last - maxVerdicts + 2: true, last: true, 1000: false} {
		if got := v.take(of(i)); (got != nil) != want {
			t.Errorf("verdict %d: %+v", i, got)
		}
	}
	if v.take(of(last)) != nil {
		t.Error("what was taken is still there")
	}
}
