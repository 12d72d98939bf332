package parallel

import (
	"strings"
	"sync/atomic"
	"testing"

	"spokeshave.dev/controller/core/crash"
)

// TestGroup: Wait returns when all functions have, and a panic of one of them reaches
// the caller of Wait after the others are done.
func TestGroup(t *testing.T) {
	var done atomic.Int32
	var g Group
	for range 5 {
		g.Go(func() { done.Add(1) })
	}
	g.Wait()
	if done.Load() != 5 {
		t.Fatalf("%d of 5 are done", done.Load())
	}
	var bad Group
	bad.Go(func() { panic("a defect") })
	bad.Go(func() { done.Add(1) })
	err := crash.Do(func() error {
		bad.Wait()
		return nil
	})
	if err == nil || err.Error() != "panic: a defect" || !strings.Contains(crash.Stack(err), "group_test.go") {
		t.Errorf("recovered %v with the stack\n%s", err, crash.Stack(err))
	}
	if done.Load() != 6 {
		t.Error("the other function was not waited for")
	}
}

// TestEach: every number is taken once, and none where there are none.
func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, 100} {
		calls := make([]atomic.Int32, n)
		Each(n, func(i int) { calls[i].Add(1) })
		for i := range calls {
			if got := calls[i].Load(); got != 1 {
				t.Errorf("of %d, %d was taken %d times", n, i, got)
			}
		}
	}
}
