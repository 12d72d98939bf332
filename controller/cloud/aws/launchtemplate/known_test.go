package launchtemplate

import (
	"fmt"
	"testing"
	"time"
)

// TestKnownTemplatesAreForgotten: a template that was not used for an hour is not
// remembered, and counts as unused.
func TestKnownTemplatesAreForgotten(t *testing.T) {
	start := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	now := start
	s := &Templates{Clock: func() time.Time { return now }}
	for i := range 1000 {
		s.know(fmt.Sprint(i), now)
		now = now.Add(time.Minute)
	}
	if len(s.known) > 70 {
		t.Errorf("%d templates are remembered, want those of the last hour", len(s.known))
	}
	if !s.unused("0", start) || s.unused("999", start) {
		t.Error("the first template counts as used, or the last one as unused")
	}
}
