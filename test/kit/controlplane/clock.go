package controlplane

import "time"

// now is the wall clock: this package times real programs, nothing here is
// replayed.
func now() time.Time {
	return time.Now() //nolint:forbidigo // the harness lives on the wall clock
}

// since returns the seconds gone since start, for people to read.
func since(start time.Time) time.Duration {
	return now().Sub(start).Round(100 * time.Millisecond)
}
