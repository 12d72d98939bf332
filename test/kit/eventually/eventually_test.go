package eventually

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// failing stands for a test: it notes what would end it.
type failing struct {
	testing.TB

	ctx  context.Context //nolint:containedctx // it stands for a test, which has one
	said string
}

func (f *failing) Helper()                  {}
func (f *failing) Context() context.Context { return f.ctx }
func (f *failing) Fatal(args ...any)        { f.said = fmt.Sprint(args...) }

func TestPoll(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for name, tc := range map[string]struct {
		reason string
		ctx    context.Context //nolint:containedctx // a test case
		within time.Duration
		at     int // the look that finds it, 0 for none
		state  string
		want   error
	}{
		"at once":  {reason: "no wait where there is nothing to wait for", ctx: t.Context(), within: time.Minute, at: 1, state: "look 1"},
		"later":    {reason: "it is looked for again", ctx: t.Context(), within: time.Minute, at: 3, state: "look 3"},
		"never":    {reason: "the bound ends it", ctx: t.Context(), within: time.Millisecond, want: context.DeadlineExceeded},
		"given up": {reason: "the caller's end is told from the bound", ctx: ended, within: time.Minute, want: context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			looks := 0
			state, err := Poll(tc.ctx, tc.within, func(context.Context) (string, bool) {
				looks++
				return fmt.Sprint("look ", looks), looks == tc.at
			})
			if !errors.Is(err, tc.want) || tc.state != "" && state != tc.state {
				t.Errorf("%s: %q, %v", tc.reason, state, err)
			}
		})
	}
}

// TestFails: a wait whose test is over fails with what it was for, and how that stood.
func TestFails(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := &failing{TB: t, ctx: ctx}
	Ok(f, "rain", func() (string, bool) { return "sunshine", false })
	if !strings.Contains(f.said, "wait for rain") || !strings.Contains(f.said, "sunshine") {
		t.Errorf("said %q", f.said)
	}
	f.said = ""
	if True(f, "sunshine", func() bool { return true }); f.said != "" {
		t.Errorf("said %q of what had come", f.said)
	}
}
