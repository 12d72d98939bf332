// Package eventually waits for what other goroutines, programs or controllers do.
// Tests poll with it instead of sleeping: a wait ends as soon as what it is for has
// come, and fails only after so long that no busy machine takes that long.
package eventually

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// Within is how long a test waits for something before it fails.
	Within = 3 * time.Minute
	// Every is how often it looks.
	Every = 100 * time.Millisecond
)

// True waits until done is true, and fails the test when that takes longer than
// Within.
func True(t testing.TB, what string, done func() bool) {
	t.Helper()
	Ok(t, what, func() (string, bool) { return "", done() })
}

// Ok is True for what can say how it stands; the failure quotes what it said last.
func Ok(t testing.TB, what string, look func() (state string, ok bool)) {
	t.Helper()
	state, err := Poll(t.Context(), Within, func(context.Context) (string, bool) { return look() })
	if err != nil {
		t.Fatal(Failure(what, Within, state, err))
	}
}

// Poll looks until look says that it is ok, which it returns with a nil error. The
// error is the context's, or context.DeadlineExceeded when that takes longer than
// within. look is called at least once, with the caller's context: a request that the
// bound cuts short would hide how things stood. The state is that of the last look.
func Poll(ctx context.Context, within time.Duration, look func(context.Context) (state string, ok bool)) (state string, err error) {
	bounded, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err = wait.PollUntilContextCancel(bounded, Every, true, func(context.Context) (ok bool, _ error) {
		state, ok = look(ctx)
		return ok, nil
	})
	return state, err
}

// Failure words the error of a Poll.
func Failure(what string, within time.Duration, state string, err error) error {
	if state != "" {
		state = ": " + state
	}
	return fmt.Errorf("wait for %s, %s at most: %w%s", what, within, err, state)
}
