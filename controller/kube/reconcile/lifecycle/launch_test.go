package lifecycle

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"spokeshave.dev/controller/cloud/provider"
)

// TestLaunchAgain: a claim waits for what the next try needs, and for nothing else.
func TestLaunchAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		err    error
		want   time.Duration
	}{
		"others are gone": {"nothing was asked of the cloud", &provider.Error{Kind: provider.Stale, Err: errors.New("b did not come")}, launchRepeat},
		"wrapped":         {"the same, told with what it was for", fmt.Errorf("launch a: %w", &provider.Error{Kind: provider.Stale, Err: errors.New("b left")}), launchRepeat},
		"cloud is busy":   {"the next request would find it busy as well", &provider.Error{Kind: provider.Stale, Code: "RequestLimitExceeded", Err: errors.New("busy")}, launchRetry},
		"refused":         {"a person has to mend something first", &provider.Error{Kind: provider.Unauthorized, Err: errors.New("denied")}, launchRetry},
		"no answer":       {"the same request tells what became of it", &provider.Error{Kind: provider.Unavailable, Err: errors.New("timeout")}, launchRepeat},
		"other":           {"nothing is known", errors.New("unexpected"), launchRepeat},
	} {
		t.Run(name, func(t *testing.T) {
			if got := launchAgain(tc.err); got != tc.want {
				t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}
