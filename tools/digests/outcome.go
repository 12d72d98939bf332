package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// outcome is what is recorded of one scenario.
type outcome struct {
	seed   uint64
	kind   string
	digest string
	// cost is in USD/hour, effective; cpu in milliseconds.
	cost          float64
	placed, asked int
	cpu           float64
}

const columns = "# seed kind digest cost placed asked cpu-ms"

func (o *outcome) write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d %s %s %.5f %d %d %.1f\n", o.seed, o.kind, o.digest, o.cost, o.placed, o.asked, o.cpu)
	return err
}

// record writes outcomes to a file, one a line.
func record(path string, all []outcome) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, columns) // Flush has the error of all writes
	for i := range all {
		_ = all[i].write(w)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// read reads what record has written, of the first seeds.
func read(r io.Reader, seeds int) ([]outcome, error) {
	var all []outcome
	scan := bufio.NewScanner(r)
	for line := 1; scan.Scan() && len(all) < seeds; line++ {
		if scan.Text() == columns {
			continue
		}
		var o outcome
		if _, err := fmt.Sscanf(scan.Text(), "%d %s %s %f %d %d %f", &o.seed, &o.kind, &o.digest, &o.cost, &o.placed, &o.asked, &o.cpu); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if o.seed != uint64(len(all)) {
			return nil, fmt.Errorf("line %d: seed %d, want %d", line, o.seed, len(all))
		}
		all = append(all, o)
	}
	if len(all) == 0 {
		return nil, errors.Join(errors.New("no outcome in it"), scan.Err())
	}
	return all, scan.Err()
}
