package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"spokeshave.dev/controller/rehearse/backtest"
	"spokeshave.dev/controller/rehearse/compare"
	"spokeshave.dev/controller/rehearse/simulate"
	"spokeshave.dev/controller/rehearse/table"
)

const backtestHelp = `Backtest runs days of workload through the whole loop, launches and disruptions, on
a virtual clock, once with each policy set, and compares what it came to: dollars,
node-hours, how long pods waited, evictions, spot interruptions, caps that were hit.

The trace is CSV with a header line, or JSON lines, of pods that arrive together:

  arrival,lifetime,count,namespace,workload,cpu,memory,gpu,priority,zone,capacityType,arch,nodeSelector,labels,job,doNotDisrupt
  90m,45m,20,shop,web,500m,1Gi,,,,,,,,,

arrival is a time (2026-01-31T12:00:00Z) or since the beginning, lifetime a duration,
empty for ever; numbers are seconds. Columns may be left out. In JSON, spec is a
whole pod spec for what the columns have no words for. -f names the NodePools, node
classes and DaemonSets; the pods of its Deployments run from the beginning.

A decision log with inputs (spokeshave replay --help) is a trace too, by itself:
the pods that the controller saw, as long as it saw them.

Each of --policies is a set: a policy's folder, a folder of such folders, manifests;
none is the set without policies. Spot prices, shortages and interruptions come from
--seed and are the same for every set; the same seed gives the same result.

Nodes are judged once a minute while something changes, where the controller does so
every ten seconds, and replacements are searched for every five minutes. Drains
evict at once what PodDisruptionBudgets let go, and ask again every ten seconds.

Exit codes: 0 compared, 2 bad input, 1 a defect.`

type backtestFlags struct {
	rehearse.Config

	start, output, html string
	quiet               bool
}

func backtestCommand(ctx context.Context) *cobra.Command {
	var f backtestFlags
	c := &cobra.Command{
		Use:   "backtest --trace TRACE -f PATH [--policies SET,SET...]",
		Short: "Run days of workload with several policy sets, and compare them",
		Long:  backtestHelp,
		Example: `  spokeshave backtest --trace examples/backtest/trace.csv -f examples/backtest/cluster.yaml \
    --policies none,examples/backtest/on-demand --html report.html

  # what a cap would have meant, as JSON
  spokeshave backtest --trace trace.jsonl -f pools/ --policies none,budget/ -o json | jq '.sets[] | {name, usd, ceilingHits}'`,
		Args: arguments(0, 0),
	}
	outputFlag(c, &f.output, "table", "json")
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.Trace, "trace", "", "the workload: CSV or JSON lines, plain or .gz")
	fs.StringArrayVarP(&f.Manifests, "filename", "f", nil, "file or folder with NodePools and what else is in the cluster; may be repeated")
	fs.StringSliceVar(&f.Sets, "policies", nil, "policy sets to compare, or none; separated by commas")
	fs.StringVar(&f.html, "html", "", "write a page with the curves to this file")
	fs.Uint64Var(&f.Run.Seed, "seed", 1, "seed of spot prices, shortages and interruptions")
	fs.DurationVar(&f.For, "for", 0, "run for so long (default: until everything in the trace is over)")
	fs.StringVar(&f.start, "start", "2026-03-02T00:00:00Z", "when a trace begins that only has times since its beginning, RFC 3339")
	fs.StringVar(&f.Catalog, "catalog", "", "catalogue file, as spokeshave catalog export writes it")
	fs.StringVar(&f.Region, "region", "", "region of the embedded catalogue (default: the one the manifests name, else us-east-1)")
	completeRegions(c)
	fs.DurationVar(&f.Run.Boot, "boot", 45*time.Second, "how long an instance takes to become a node")
	fs.Float64Var(&f.Run.Market.Volatility, "spot-volatility", 0.1, "daily standard deviation of a spot price's logarithm; negative for none")
	fs.Float64Var(&f.Run.Market.Shortages, "spot-shortages", 0.05, "share of spot offerings that are sold out at a time; negative for none")
	fs.Float64Var(&f.Run.Market.Interruptions, "spot-interruptions", 1, "multiplies the catalogue's interruption rates; negative for none")
	fs.StringVar(&f.PreferencePolicy, "preference-policy", "Respect", "Respect or Ignore pods' preferences, as the controller's setting")
	fs.StringVar(&f.MinValuesPolicy, "min-values-policy", "Strict", "Strict or BestEffort, as the controller's setting")
	moveCostFlag(fs, &f.MoveCost)
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no warnings on standard error")
	c.RunE = func(c *cobra.Command, _ []string) error {
		err := f.run(ctx, c)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, simulate.ErrDefect):
			return &exitError{exitDefect, err}
		}
		return &exitError{exitBadInput, fmt.Errorf("backtest: %w", err)}
	}
	return c
}

func (f *backtestFlags) run(ctx context.Context, c *cobra.Command) error {
	var err error
	switch {
	case f.Trace == "":
		return errors.New("no trace: name a file with --trace")
	case f.Catalog != "" && f.Region != "":
		return errors.New("--catalog and --region exclude each other")
	case f.For < 0 || f.Run.Boot <= 0:
		return errors.New("--for must not be negative, --boot must be positive")
	}
	if f.Start, err = time.Parse(time.RFC3339, f.start); err != nil {
		return fmt.Errorf("--start %s: want RFC 3339, such as 2026-01-31T12:00:00Z", f.start)
	}
	report, warnings, err := rehearse.Compare(ctx, &f.Config)
	if err != nil {
		return err
	}
	if !f.quiet {
		for _, w := range warnings {
			say(c.ErrOrStderr(), "warning: %s", w)
		}
	}
	if f.html != "" {
		if err := writePage(f.html, report); err != nil {
			return err
		}
	}
	if f.output == "json" {
		return writeJSON(c.OutOrStdout(), report)
	}
	return printBacktest(c.OutOrStdout(), report)
}

func writePage(path string, r *backtest.Report) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return errors.Join(r.WriteHTML(file), file.Close())
}

// printBacktest prints the comparison with one column per policy set.
func printBacktest(out io.Writer, r *backtest.Report) error {
	say(out, "%s to %s, seed %d", r.Start.Format(time.RFC3339), r.End.Format(time.RFC3339), r.Seed)
	w := table.New(out).Right()
	for _, row := range r.Rows() {
		_, _ = fmt.Fprintf(w, "%s\t\n", strings.Join(row, "\t")) // Flush says what goes wrong
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}
