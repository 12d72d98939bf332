package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"spokeshave.dev/controller/rehearse/author"
	"spokeshave.dev/controller/rehearse/table"
)

const benchHelp = `Bench measures policies: how long a row takes (an offering, a candidate, a
launch) in the fastest of many calls, how much fuel it costs, how large the
policy is and how long it takes to load. rank is asked about all offerings of a
region, consolidate about 1,000 nodes, ceiling about 1,000 launches.

Exit codes: 0 measured, 1 a policy does not load or is at fault, 2 bad input.`

func benchCommand(ctx context.Context) *cobra.Command {
	var output string
	var about time.Duration
	c := &cobra.Command{
		Use:   "bench PATH...",
		Short: "Measure policies: time and fuel per row, size, time to load",
		Long:  benchHelp,
		Example: `  spokeshave policy bench policies
  spokeshave policy bench examples/wasm-rank-go --for 3s -o json`,
		Args: arguments(1, unlimited),
	}
	outputFlag(c, &output, "table", "json")
	c.Flags().DurationVar(&about, "for", time.Second, "how long to measure each hook")
	c.RunE = func(c *cobra.Command, args []string) error {
		var all []author.Measurement
		for _, path := range args {
			some, err := benchPath(ctx, path, about)
			if err != nil {
				return err
			}
			all = append(all, some...)
		}
		if output == "json" {
			if err := writeJSON(c.OutOrStdout(), all); err != nil {
				return err
			}
		} else if err := printBench(c, all); err != nil {
			return err
		}
		for i := range all {
			if all[i].Fault != "" {
				return badPolicy(fmt.Errorf("%s: %s: %s", all[i].Policy, all[i].Hook, all[i].Fault))
			}
		}
		return nil
	}
	return c
}

func benchPath(ctx context.Context, path string, about time.Duration) ([]author.Measurement, error) {
	sources, err := author.Open(ctx, path)
	if err != nil {
		return nil, unopened("bench", err)
	}
	watch := clock.RealClock{}
	start := watch.Now()
	var all []author.Measurement
	for i := range sources {
		some, err := sources[i].Bench(ctx, about, func() time.Duration { return watch.Since(start) })
		if err != nil {
			return nil, badPolicy(fmt.Errorf("%s: %w", sources[i].At, err))
		}
		all = append(all, some...)
	}
	return all, nil
}

func printBench(c *cobra.Command, all []author.Measurement) error {
	w := table.New(c.OutOrStdout()).Right()
	_, _ = fmt.Fprintln(w, "POLICY\tHOOK\tROWS\tCALLS\tNS/ROW\tFUEL/ROW\tBYTES\tLOAD MS\t")
	for i := range all {
		m := &all[i]
		fuel := "-"
		if m.FuelPerRow > 0 {
			fuel = fmt.Sprintf("%.1f", m.FuelPerRow)
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%.1f\t%s\t%d\t%.1f\t\n", m.Policy, m.Hook, m.Rows, m.Calls, m.NanosPerRow, fuel, m.Size, m.LoadMillis)
	}
	if err := w.Flush(); err != nil {
		return unread("bench", err)
	}
	return nil
}
