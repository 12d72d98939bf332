package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// options are the command's flags.
type options struct {
	scenarios []string
	pods      int
	seed      uint64
	boot      time.Duration
	// stop is how long a pod of a Deployment takes to stop.
	stop time.Duration
	// consolidateAfter is that of the NodePool.
	consolidateAfter time.Duration
	// settle bounds how long consolidation may take to settle.
	settle   time.Duration
	capacity []string
	// base is a commit whose controller is measured beside the working tree's.
	base   string
	values []string
	out    string
	// workloadQPS is how many requests a second kube-controller-manager sends.
	workloadQPS int
	// dir keeps the state of the cluster and the logs; empty for a temporary folder.
	dir string
}

func command() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "live",
		Short: "Measure bursts of pods on the local control plane",
		Long: `live starts a control plane, the EC2 simulator and the controller for each scenario, makes the burst
through the real workload controllers, and prints: time until pods run, from node ready to pod bound,
nodes and $/h against one plan of the same pods, what consolidation does afterwards, calls, memory and
processor time. With --base, the controller of another commit is measured too, installed by its own
chart, and both are printed side by side. Scenarios:

` + describeAll(),
		Example: `  go run ./cmd/live --scenario web --pods 1000 --boot 7s
  go run ./cmd/live --scenario web,diverse --base main~20 --out results`,
		Args: cobra.NoArgs, SilenceErrors: true, SilenceUsage: true,
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), c.OutOrStdout(), o) },
	}
	f := c.Flags()
	f.StringSliceVar(&o.scenarios, "scenario", []string{"web", "diverse"}, "scenarios, in order")
	f.IntVar(&o.pods, "pods", 1000, "how many pods")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the workloads")
	f.DurationVar(&o.boot, "boot", 7*time.Second, "how long an instance takes to start and to boot, together")
	f.DurationVar(&o.stop, "stop", 0, "how long a pod of a Deployment takes to stop, in whole seconds up to its grace period of 30s: its preStop hook sleeps for so long")
	f.DurationVar(&o.consolidateAfter, "consolidate-after", 30*time.Second, "consolidateAfter of the NodePool")
	f.DurationVar(&o.settle, "settle", 5*time.Minute, "how long consolidation may take afterwards; 0 does not wait for it")
	f.StringSliceVar(&o.capacity, "capacity", []string{"on-demand"}, "capacity types of the NodePool")
	f.StringVar(&o.base, "base", "", "also measure the controller of this commit")
	f.StringSliceVar(&o.values, "set", nil, "further values for the chart, as for helm --set")
	f.IntVar(&o.workloadQPS, "workload-qps", 20, "requests a second of kube-controller-manager, which creates the pods; 20 is Kubernetes' default, and a managed control plane may have more")
	f.StringVar(&o.dir, "dir", "", "keep the state of the cluster and the logs in this folder; the next run replaces them")
	f.StringVar(&o.out, "out", "", "write figures (JSON) and timelines (SVG) to this folder")
	return c
}

// run measures every scenario, with the controller of each commit.
func run(ctx context.Context, out io.Writer, o options) error {
	chosen, err := choose(o.scenarios)
	if err != nil {
		return err
	}
	if o.stop < 0 || o.stop > 30*time.Second || o.stop%time.Second != 0 {
		return fmt.Errorf("--stop %s: name whole seconds from 0s to 30s, the grace period of the pods", o.stop)
	}
	sides, done, err := controllers(ctx, o.base)
	if err != nil {
		return err
	}
	defer done()
	for _, s := range chosen {
		results := make([]*figures, 0, len(sides))
		for _, side := range sides {
			_, _ = fmt.Fprintf(out, "== %s, %d pods, seed %d, boot %s, %s\n", s.name, o.pods, o.seed, o.boot, side.name)
			f, err := measure(ctx, out, s, side, &o)
			if err != nil {
				return fmt.Errorf("%s with %s: %w", s.name, side.name, err)
			}
			results = append(results, f)
		}
		if err := report(out, results); err != nil {
			return err
		}
		if o.out != "" {
			if err := keep(o.out, results); err != nil {
				return err
			}
		}
	}
	return nil
}

// describeAll lists the scenarios for the help.
func describeAll() string {
	var b strings.Builder
	for _, s := range scenarios() {
		fmt.Fprintf(&b, "  %-12s%s\n", s.name, s.what)
	}
	return b.String()
}
