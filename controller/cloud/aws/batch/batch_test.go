package batch

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestBatcherAnswersEachAndEndsWithItsContext(t *testing.T) {
	release := make(chan struct{})
	g := Batcher[int, int]{Idle: time.Millisecond, Longest: time.Millisecond, Most: 10, Timeout: time.Minute, Do: func(_ context.Context, q []int) map[int]Answer[int] {
		<-release
		out := map[int]Answer[int]{}
		for _, n := range q {
			out[n] = Answer[int]{Value: n * n}
		}
		return out
	}}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Ask(over, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("asked with a context that is over: %v", err)
	}
	close(release)
	if n, err := g.Ask(t.Context(), 3); err != nil || n != 9 {
		t.Errorf("ask 3 = %d, %v", n, err)
	}
}
