// Command growth draws how the solver's time grows with the number of pods. It
// reads the output of "go test -bench", passes it on, and ends with a plot of
// the benchmarks whose names hold mix= and pods=, beside a curve of n log n:
//
//	go test -run '^$' -bench Solve ./controller/core/solver | growth
//
// Processor time is drawn, as a busy machine stretches the rest. A failure in
// what it reads is its own.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	var all []series
	failed := false
	scan := bufio.NewScanner(in)
	for scan.Scan() {
		line := scan.Text()
		fmt.Fprintln(out, line)
		failed = failed || strings.HasPrefix(line, "FAIL") || strings.HasPrefix(line, "--- FAIL")
		if mix, p, ok := parse(line); ok {
			all = add(all, mix, p)
		}
	}
	if err := scan.Err(); err != nil {
		return fmt.Errorf("read benchmarks: %w", err)
	}
	draw(out, all)
	if failed {
		return errors.New("a benchmark failed")
	}
	return nil
}
