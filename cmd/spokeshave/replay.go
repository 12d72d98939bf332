package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"spokeshave.dev/controller/record/journal"
	"spokeshave.dev/controller/rehearse/replay"
	"spokeshave.dev/controller/rehearse/source"
	"spokeshave.dev/controller/rehearse/table"
)

const replayHelp = `Replay makes recorded decisions again, from nothing but their record, and compares
the bytes with those that the controller came to.

FILE is a decision log, packed or not, or a part of one: JSON objects, one per
decision. The controller writes it with --decision-log, and with
--decision-log-inputs what a replay needs (controller.decisionLog in the chart).

With --policies the decisions are made with other policies, in place of all those
of the record: what would have been launched instead, and for how much.

Exit codes: 0 the same bytes, or compared; 3 a decision comes out differently;
2 bad input.`

// exitDiffers is the exit code when a replayed decision differs from the recorded one.
const exitDiffers = exitUnscheduled

type replayFlags struct {
	decision string
	policies []string
	output   string
}

func replayCommand(ctx context.Context) *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay FILE",
		Short: "Make recorded decisions again, with their policies or others",
		Long:  replayHelp,
		Example: `  # the log of a controller that was installed with
  # --set controller.decisionLog.path=- --set controller.decisionLog.inputs=true
  kubectl -n spokeshave logs POD | grep '^{"version":' > decisions.jsonl
  spokeshave replay decisions.jsonl

  # what would last night's decision have been with this policy?
  spokeshave replay decisions.jsonl --decision 3f1c --policies budget/`,
		Args: arguments(1, 1),
	}
	outputFlag(c, &f.output, "table", "json")
	c.Flags().StringVar(&f.decision, "decision", "", "only the decision whose ID begins so")
	c.Flags().StringArrayVar(&f.policies, "policies", nil, "file or folder with policies to decide with instead; may be repeated")
	c.RunE = func(c *cobra.Command, args []string) error {
		err := f.run(ctx, c, args[0])
		if exit := (*exitError)(nil); err == nil || errors.As(err, &exit) {
			return err
		}
		return &exitError{exitBadInput, fmt.Errorf("replay: %w", err)}
	}
	return c
}

// records returns the records to replay.
func (f *replayFlags) records(c *cobra.Command, path string) ([]journal.Record, error) {
	all, err := replay.Read(path)
	if err != nil {
		return nil, err
	}
	var out []journal.Record
	found, bare := 0, 0
	for i := range all {
		switch {
		case !strings.HasPrefix(all[i].ID, f.decision):
		case all[i].Inputs == nil:
			found, bare = found+1, bare+1
		default:
			found++
			out = append(out, all[i])
		}
	}
	switch {
	case found == 0:
		return nil, fmt.Errorf("%s: none of its %d decisions has an ID that begins with %q", path, len(all), f.decision)
	case len(out) == 0:
		return nil, fmt.Errorf("%s: its decisions were recorded without their inputs: run the controller with --decision-log-inputs", path)
	case bare > 0:
		say(c.ErrOrStderr(), "warning: %d decisions were recorded without their inputs, and are left out", bare)
	}
	return out, nil
}

func (f *replayFlags) run(ctx context.Context, c *cobra.Command, path string) error {
	records, err := f.records(c, path)
	if err != nil {
		return err
	}
	if len(f.policies) > 0 {
		return f.swap(ctx, c, records)
	}
	results := make([]*replay.Result, 0, len(records))
	differs := 0
	for i := range records {
		r, err := replay.Again(ctx, &records[i])
		if err != nil {
			return err
		}
		if !r.Same {
			differs++
		}
		results = append(results, r)
	}
	if f.output == "json" {
		if err := writeJSON(c.OutOrStdout(), results); err != nil {
			return err
		}
	} else {
		printReplays(c.OutOrStdout(), results)
	}
	if differs > 0 {
		return &exitError{exitDiffers, fmt.Errorf("replay: %d of %d decisions come out differently", differs, len(results))}
	}
	return nil
}

func printReplays(w io.Writer, results []*replay.Result) {
	for _, r := range results {
		if r.Same {
			say(w, "%s  decision %s: the same %d bytes", r.Time.UTC().Format(time.RFC3339), r.Decision, r.Bytes)
		} else {
			say(w, "%s  decision %s: differs", r.Time.UTC().Format(time.RFC3339), r.Decision)
		}
		for _, d := range r.Differences {
			say(w, "  %s", d)
		}
		for _, f := range r.Failures {
			say(w, "  failed: %s\n%s", f.Message, f.Stack)
		}
	}
}

func (f *replayFlags) swap(ctx context.Context, c *cobra.Command, records []journal.Record) error {
	var policies []source.Policy
	for _, path := range f.policies {
		more, _, err := source.Read(ctx, path)
		if err != nil {
			return err
		}
		policies = append(policies, more...)
	}
	out := make([]*replay.Comparison, 0, len(records))
	for i := range records {
		cmp, err := replay.With(ctx, &records[i], policies)
		if err != nil {
			return err
		}
		out = append(out, cmp)
	}
	if f.output == "json" {
		return writeJSON(c.OutOrStdout(), out)
	}
	for _, cmp := range out {
		printComparison(c.OutOrStdout(), cmp)
	}
	return nil
}

func printComparison(out io.Writer, c *replay.Comparison) {
	say(out, "%s  decision %s: %+.4f $/h", c.Time.UTC().Format(time.RFC3339), c.Decision, c.HourlyDelta)
	w := table.New(out)
	row := func(what string, recorded, replayed any) {
		_, _ = fmt.Fprintf(w, "  %s\t%v\t%v\n", what, recorded, replayed)
	}
	row("", "RECORDED", "WITH THESE POLICIES")
	a, b := &c.Recorded, &c.Replayed
	row("launched", nodes(a), nodes(b))
	row("$/h launched", fmt.Sprintf("%.4f", a.HourlyCost), fmt.Sprintf("%.4f", b.HourlyCost))
	row("nodes let go", len(a.Gone), len(b.Gone))
	row("$/h let go", fmt.Sprintf("%.4f", a.Removed), fmt.Sprintf("%.4f", b.Removed))
	row("pods that wait", len(a.Unplaced), len(b.Unplaced))
	_ = w.Flush() // write errors on standard output are ignored
	for _, side := range []struct {
		was string
		by  []string
	}{{"recorded", a.Policies}, {"replayed", b.Policies}} {
		if len(side.by) == 0 {
			side.by = []string{"no policies"}
		}
		say(out, "  %s with %s", side.was, strings.Join(side.by, ", "))
	}
	for i := range b.Unplaced {
		if i == 5 {
			say(out, "  and %d more wait", len(b.Unplaced)-i)
			break
		}
		for _, r := range b.Unplaced[i].Reasons {
			say(out, "  %s would wait: %s", b.Unplaced[i].Pod, r.Message)
		}
	}
}

// nodes formats the nodes of a decision in short form: "2 c7g.large spot, 1 ...".
func nodes(s *replay.Summary) string {
	count := map[string]int{}
	var order []string
	for i := range s.Nodes {
		name := s.Nodes[i].Best.InstanceType + " " + string(s.Nodes[i].Best.CapacityType)
		if count[name] == 0 {
			order = append(order, name)
		}
		count[name]++
	}
	const most = 4
	var parts []string
	for i, name := range order {
		if i == most {
			parts = append(parts, fmt.Sprintf("%d more kinds", len(order)-most))
			break
		}
		parts = append(parts, fmt.Sprintf("%d %s", count[name], name))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
