package actuate

import "sync"

// writtenAtOnce is how many objects are written at the same time. Written one after the
// other, the last of forty waits for forty answers of the API server.
const writtenAtOnce = 16

// inRounds calls write for 0 to n-1, [writtenAtOnce] at the same time, and then answer for each
// of these in order with what write returned. It stops after a round for which answer
// returned an error, and returns the first: then the API server would not answer for the
// others either.
func inRounds(n int, write func(int) error, answer func(int, error) error) error {
	for from := 0; from < n; from += writtenAtOnce {
		errs := make([]error, min(n-from, writtenAtOnce))
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { errs[i] = write(from + i) })
		}
		all.Wait()
		var first error
		for i, err := range errs {
			if err := answer(from+i, err); err != nil && first == nil {
				first = err
			}
		}
		if first != nil {
			return first
		}
	}
	return nil
}
