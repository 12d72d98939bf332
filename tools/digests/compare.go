package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"text/tabwriter"

	"spokeshave.dev/test/kit/random"
)

// compareWith plans the scenarios of a file again and prints what differs.
func compareWith(path string, seeds int, m *meter, out io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	defer func() { _ = f.Close() }()
	before, err := read(f, seeds)
	if err != nil {
		return fmt.Errorf("compare: read %s: %w", path, err)
	}
	return compare(before, m.all(len(before)), out)
}

// compare prints a row for each pair of outcomes whose digests differ, and the
// sums by kind. Its error is errDiffer when there is such a pair.
func compare(before, after []outcome, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	differ := 0
	for i := range before {
		if before[i].digest == after[i].digest {
			continue
		}
		if differ == 0 {
			fmt.Fprintln(w, "seed\tkind\tUSD/h before\tafter\t\tplaced before\tafter\tof\tCPU ms before\tafter\t")
		}
		differ++
		b, a := &before[i], &after[i]
		fmt.Fprintf(w, "%d\t%s\t%.4f\t%.4f\t%s\t%d\t%d\t%d\t%.1f\t%.1f\t\n", b.seed, b.kind, b.cost, a.cost, change(b.cost, a.cost), b.placed, a.placed, b.asked, b.cpu, a.cpu)
	}
	if differ > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "kind\tscenarios\tdiffer\tUSD/h before\tafter\t\tplaced before\tafter\tof\tCPU s before\tafter\t\t")
	for _, kind := range append(random.Kinds(), "all") {
		if s := sum(before, after, kind); s.scenarios > 0 {
			s.write(w, kind)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	if differ > 0 {
		return fmt.Errorf("%w: those of %d of %d scenarios", errDiffer, differ, len(before))
	}
	return nil
}

// sums are those of the scenarios of a kind.
type sums struct {
	scenarios, differ int
	before, after     outcome
}

func sum(before, after []outcome, kind string) sums {
	var s sums
	for i := range before {
		if kind != "all" && !slices.Contains([]string{before[i].kind, after[i].kind}, kind) {
			continue
		}
		s.scenarios++
		if before[i].digest != after[i].digest {
			s.differ++
		}
		s.before.add(&before[i])
		s.after.add(&after[i])
	}
	return s
}

func (o *outcome) add(other *outcome) {
	o.cost += other.cost
	o.placed += other.placed
	o.asked += other.asked
	o.cpu += other.cpu
}

func (s *sums) write(w io.Writer, kind string) {
	b, a := &s.before, &s.after
	fmt.Fprintf(w, "%s\t%d\t%d\t%.3f\t%.3f\t%s\t%d\t%d\t%d\t%.2f\t%.2f\t%s\t\n", kind, s.scenarios, s.differ, b.cost, a.cost, change(b.cost, a.cost),
		b.placed, a.placed, b.asked, b.cpu/1000, a.cpu/1000, change(b.cpu, a.cpu))
}

// change is the relative difference in per cent, empty where it is less than
// 0.005 %: records hold five decimals.
func change(before, after float64) string {
	if before == 0 || math.Abs(after/before-1) < 0.00005 {
		return ""
	}
	return fmt.Sprintf("%+.2f %%", 100*(after/before-1))
}
