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

// named calls write for each name, as [inRounds] does, and adds those that were written to the
// list.
func named(names []string, to *[]string, write func(i int) error) error {
	return inRounds(len(names), write, func(i int, err error) error {
		if err == nil {
			*to = append(*to, names[i])
		}
		return err
	})
}

// change is one object to write.
type change struct {
	write func() error
	// object says which it is, and to is the list of names to which it is added once written.
	object RefusedError
	to     *[]string
}

// all makes the changes, [writtenAtOnce] at the same time. It goes on past refused objects and
// returns the first other error.
func (a *application) all(changes []change) error {
	return inRounds(len(changes),
		func(i int) error { return changes[i].write() },
		func(i int, err error) error { return a.write(err, changes[i].object, changes[i].to) })
}
