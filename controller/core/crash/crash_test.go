package crash

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestDo(t *testing.T) {
	broken := errors.New("broken")
	for name, tc := range map[string]struct {
		reason string
		do     func() error
		want   string
		stack  bool
	}{
		"sound":   {reason: "no error", do: func() error { return nil }},
		"error":   {reason: "an error is returned as it is", do: func() error { return broken }, want: "broken"},
		"value":   {reason: "of a value the first line", do: func() error { panic("one\ntwo") }, want: "panic: one", stack: true},
		"runtime": {reason: "errors of the runtime are panics", do: func() error { none := map[bool]map[string]int{}; none[true]["a"] = 1; return nil }, want: "panic: assignment to entry in nil map", stack: true},
		"again":   {reason: "a panic of another goroutine keeps its stack", do: func() error { panic(&PanicError{Value: "far", Stack: []byte("crash_test.go")}) }, want: "panic: far", stack: true},
	} {
		t.Run(name, func(t *testing.T) {
			err := Do(tc.do)
			if got := fmt.Sprint(err); err == nil && tc.want != "" || err != nil && got != tc.want {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
			}
			if stack := Stack(fmt.Errorf("round: %w", err)); strings.Contains(stack, "crash_test.go") != tc.stack {
				t.Errorf("%s: stack %q", tc.reason, stack)
			}
		})
	}
}
