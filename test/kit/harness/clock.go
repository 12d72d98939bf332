package harness

import "time"

// now is the wall clock: real programs are waited for here.
func now() time.Time {
	return time.Now() //nolint:forbidigo // the harness lives on the wall clock
}

// since returns the time gone since start, for people to read.
func since(start time.Time) time.Duration {
	return now().Sub(start).Round(100 * time.Millisecond)
}
