package policies

import (
	"strings"
	"testing"
)

// TestStatusKey: no name is too long for a key, and two long names differ.
func TestStatusKey(t *testing.T) {
	if got := statusKey("spokeshave", "budget"); got != "spokeshave.budget" {
		t.Errorf("got %q", got)
	}
	long := strings.Repeat("n", 252)
	a, b := statusKey("spokeshave", long+"a"), statusKey("spokeshave", long+"b")
	if len(a) > 253 || len(b) > 253 || a == b {
		t.Errorf("%d and %d characters, equal: %v", len(a), len(b), a == b)
	}
}
