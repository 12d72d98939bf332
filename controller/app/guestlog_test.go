package app

import (
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	clocktesting "k8s.io/utils/clock/testing"

	"spokeshave.dev/controller/core/policy"
)

// TestGuestLog: log lines of policies reach the log; those beyond the limit are
// dropped, and the log says so.
func TestGuestLog(t *testing.T) {
	var lines []string
	clock := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	g := &guestLog{
		log:   funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{}),
		clock: clock, minutes: map[string]*minute{},
	}
	loud, calm := &policy.Info{Namespace: "n", Name: "loud"}, &policy.Info{Namespace: "n", Name: "calm"}
	for range guestLines + 7 {
		g.write(loud, "hello")
	}
	g.write(calm, "hello")
	if len(lines) != guestLines+1 || !strings.Contains(lines[guestLines], "n/calm") {
		t.Fatalf("%d lines, want %d", len(lines), guestLines+1)
	}
	clock.SetTime(time.Unix(60, 0))
	lines = nil
	g.write(loud, "again")
	if len(lines) != 2 || !strings.Contains(lines[0], `"dropped"=7`) || !strings.Contains(lines[1], "again") {
		t.Errorf("%q", lines)
	}
}
