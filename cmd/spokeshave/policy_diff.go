package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"spokeshave.dev/controller/rehearse/author"
	"spokeshave.dev/controller/rehearse/simulate"
)

const diffHelp = `Diff makes the decision of a scenario twice, with each of two versions of a
policy, and says what would change: which nodes would be launched, what they
cost an hour, which pods would wait, and, of consolidate policies, which running
nodes would be removed. Prices are those of the embedded catalogue. Running nodes
count with their NodeClaims: kubectl get nodeclaims,nodes,pods -A -o yaml.

Exit codes: 0 nothing changes, 1 something does, 2 bad input.`

func diffCommand(ctx context.Context) *cobra.Command {
	var output string
	var f simulateFlags
	c := &cobra.Command{
		Use:   "diff OLD NEW -f PATH [-f PATH...]",
		Short: "Show which decisions another version of a policy would change",
		Long:  diffHelp,
		Example: `  spokeshave policy diff policies/budget mine/budget -f examples/quickstart
  spokeshave policy diff old.yaml new.yaml -f cluster.yaml --policies policies -o json`,
		Args: arguments(2, 2),
	}
	outputFlag(c, &output, "table", "json")
	c.Flags().StringArrayVarP(&f.manifests, "filename", "f", nil, "file or folder of manifests; may be repeated")
	c.Flags().StringArrayVar(&f.policies, "policies", nil, "further policies in force; may be repeated")
	c.Flags().StringVar(&f.region, "region", "", "region of the embedded catalogue (default: the one the manifests name, else us-east-1)")
	completeRegions(c)
	c.Flags().StringVar(&f.time, "time", "", "time of the decision, RFC 3339 (default: now)")
	c.RunE = func(c *cobra.Command, args []string) error {
		f.output, f.given = output, c.Flags().Changed
		cfg, err := f.config()
		if err != nil {
			return &exitError{exitUnread, err}
		}
		d, err := diff(ctx, args, cfg)
		if err != nil {
			return unopened("diff", err)
		}
		if output == "json" {
			if err := writeJSON(c.OutOrStdout(), d); err != nil {
				return err
			}
		} else {
			printDiff(c, d)
		}
		if !d.Same() {
			return &exitError{code: exitRefused}
		}
		return nil
	}
	return c
}

func diff(ctx context.Context, paths []string, cfg simulate.Config) (*author.Difference, error) {
	var both [2]*author.Source
	for i, path := range paths {
		sources, err := author.Open(ctx, path)
		if err != nil {
			return nil, err
		}
		if len(sources) != 1 {
			return nil, fmt.Errorf("%s holds %d policies: name one", path, len(sources))
		}
		both[i] = &sources[0]
	}
	cfg.Elapsed = func() time.Duration { return 0 }
	d, err := author.Diff(ctx, both[0], both[1], cfg)
	if errors.Is(err, simulate.ErrDefect) {
		return nil, fmt.Errorf("decide: %w", err)
	}
	return d, err
}

func printDiff(c *cobra.Command, d *author.Difference) {
	w := c.OutOrStdout()
	for i := range d.Nodes {
		n := &d.Nodes[i]
		say(w, "%+d  %s  %s  %s  %s  %.4f $/h each  (%d, was %d)", n.New-n.Old, n.NodePool, n.InstanceType, n.Zone, n.CapacityType, n.Price, n.New, n.Old)
	}
	for _, n := range d.Removed {
		say(w, "removed %s (%s), which stayed%s", n.Node, n.Method, because(n))
	}
	for _, n := range d.Kept {
		say(w, "stays   %s (%s), which was removed%s", n.Node, n.Method, because(n))
	}
	for _, p := range d.Waiting {
		say(w, "waits   %s: %s", p.Pod, strings.Join(p.Reason, "; "))
	}
	for _, p := range d.Placed {
		say(w, "placed  %s, which waited: %s", p.Pod, strings.Join(p.Reason, "; "))
	}
	for _, o := range []struct {
		name string
		of   author.Outcome
	}{{"old", d.Old}, {"new", d.New}} {
		if o.of.Fault != "" {
			say(w, "the %s policy is at fault: %s", o.name, o.of.Fault)
		}
	}
	say(w, "%.4f $/h, was %.4f (%+.4f); %d nodes, were %d; %d pods wait, were %d", d.New.HourlyCost, d.Old.HourlyCost,
		d.New.HourlyCost-d.Old.HourlyCost, d.New.Nodes, d.Old.Nodes, d.New.Unscheduled, d.Old.Unscheduled)
	if d.New.Removed+d.Old.Removed > 0 {
		say(w, "%d running nodes removed, were %d; that saves %.4f $/h, was %.4f", d.New.Removed, d.Old.Removed, d.New.Savings, d.Old.Savings)
	}
}

func because(n author.NodeFate) string {
	switch {
	case n.Policy != "":
		return ": " + n.Policy + ": " + n.Reason
	case n.Reason != "":
		return ": " + n.Reason
	}
	return ""
}
