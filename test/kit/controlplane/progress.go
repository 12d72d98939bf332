package controlplane

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Step announces a piece of work on w and returns what to call when it is
// done. On a terminal the elapsed time counts up in place; elsewhere the line
// is finished once, at the end.
func Step(ctx context.Context, w io.Writer, label string) (done func(error)) {
	start := now()
	say(w, "%s …", label)
	ctx, cancel := context.WithCancel(ctx)
	var ticking sync.WaitGroup
	if isTerminal(w) {
		ticking.Go(func() {
			wait.UntilWithContext(ctx, func(context.Context) {
				say(w, "\r%s …  %s", label, clockSeconds(now().Sub(start)))
			}, time.Second)
		})
	}
	return func(err error) {
		cancel()
		ticking.Wait()
		if isTerminal(w) {
			say(w, "\r%s …", label)
		}
		outcome := ""
		if err != nil {
			outcome = "  failed"
		}
		say(w, "  %s%s\n", clockSeconds(now().Sub(start)), outcome)
	}
}

// say writes a line of progress. Nobody's work depends on its being read.
func say(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, format, args...)
}

// clockSeconds renders a duration as 48s or 3m20s.
func clockSeconds(d time.Duration) string {
	return d.Round(time.Second).String()
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
