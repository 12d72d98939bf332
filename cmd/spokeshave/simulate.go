package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"spokeshave.dev/controller/rehearse/simulate"
)

const simulateHelp = `Simulate reads Kubernetes manifests and prints the nodes that would be launched
for the pods that have no place, with their prices, and says of every other pod
why it stays unscheduled. Nothing is launched, and no cluster is needed.
With --consolidate it also prints which running nodes would be removed or
replaced, what that saves, and why each of the others stays.

Manifests: NodePool, EC2NodeClass, NodeClaim, Node, Pod, Deployment, ReplicaSet,
StatefulSet, DaemonSet, Job, Namespace, LimitRange, PriorityClass, RuntimeClass,
PersistentVolume(Claim), StorageClass, CSINode, PodDisruptionBudget, ConfigMaps that
carry policies. They are
read strictly: an unknown field is an error with file and line. Workloads stand
for the pods that they would make. What spokeshave snapshot took from a cluster
works too, by itself, with its own time, settings and prices (--seed may ask for
another seed, --policies for further policies); or a dump:

  kubectl get nodepools,ec2nodeclasses,nodeclaims,nodes,deployments,statefulsets,daemonsets,pods -A -o yaml > cluster.yaml

NodeClaims that are still to be launched are decided about, too; where other
EC2NodeClasses are among the manifests, one that is not does not exist.

Exit codes: 0 all pods placed, 2 bad input, 3 a pod or a NodeClaim gets no node,
1 a defect.`

const simulateExamples = `  # the nodes for a folder of manifests
  spokeshave simulate -f manifests/

  # what a budget would change, as JSON
  spokeshave simulate -f manifests/ --policies budget.yaml -o json

  # which running nodes would go, and why the others stay
  spokeshave simulate -f manifests/ --consolidate

  # at the prices of a region, or of a catalogue of your own
  spokeshave simulate -f app.yaml -f pools.yaml --region eu-west-1
  spokeshave catalog export --region eu-west-1 > mine.json
  spokeshave simulate -f app.yaml -f pools.yaml --catalog mine.json

  # the same decision each time
  spokeshave simulate -f manifests/ --time 2026-01-01T00:00:00Z --seed 1`

type simulateFlags struct {
	manifests []string
	policies  []string
	catalog   string
	region    string
	time      string
	seed      uint64
	prefer    string
	minValues string
	moveCost  *float64
	// consolidate also decides about running nodes.
	consolidate bool
	output      string
	quiet       bool
	// given reports whether the user set a flag; a snapshot from a file has its own
	// values for some.
	given func(flag string) bool
}

func simulateCommand(ctx context.Context) *cobra.Command {
	var f simulateFlags
	c := &cobra.Command{
		Use:     "simulate -f PATH [-f PATH...]",
		Short:   "Print the nodes that would be launched for manifests, or consolidated",
		Long:    simulateHelp,
		Example: simulateExamples,
		Args:    arguments(0, 0),
		RunE:    func(c *cobra.Command, _ []string) error { return f.run(ctx, c) },
	}
	fs := c.Flags()
	f.given = fs.Changed
	fs.SortFlags = false
	fs.StringArrayVarP(&f.manifests, "filename", "f", nil, "file or folder of manifests, plain or .gz; may be repeated")
	fs.StringArrayVar(&f.policies, "policies", nil, "file or folder with ConfigMaps that carry policies; may be repeated")
	fs.StringVar(&f.catalog, "catalog", "", "catalogue file, as spokeshave catalog export writes it")
	fs.StringVar(&f.region, "region", "", "region of the embedded catalogue (default: the one the manifests name, else us-east-1)")
	completeRegions(c)
	fs.StringVar(&f.time, "time", "", "time of the decision, RFC 3339 (default: now)")
	fs.Uint64Var(&f.seed, "seed", 0, "seed that policies see")
	fs.StringVar(&f.prefer, "preference-policy", "Respect", "Respect or Ignore pods' preferences, as the controller's setting")
	fs.StringVar(&f.minValues, "min-values-policy", "Strict", "Strict or BestEffort, as the controller's setting")
	moveCostFlag(fs, &f.moveCost)
	fs.BoolVar(&f.consolidate, "consolidate", false, "also decide which running nodes would be removed or replaced")
	fs.StringVarP(&f.output, "output", "o", "table", "table or json")
	completeFlag(c, "output", "table", "json")
	completeFlag(c, "preference-policy", "Respect", "Ignore")
	completeFlag(c, "min-values-policy", "Strict", "BestEffort")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no warnings on standard error")
	return c
}

func (f *simulateFlags) config() (simulate.Config, error) {
	watch := clock.RealClock{}
	start := watch.Now()
	cfg := simulate.Config{
		Manifests: f.manifests, Policies: f.policies, Catalog: f.catalog, Region: f.region,
		PreferencePolicy: f.prefer, MinValuesPolicy: f.minValues, MoveCost: f.moveCost, Consolidate: f.consolidate,
		Time: start.UTC(), Seed: f.seed, Reseed: f.given("seed"), Elapsed: func() time.Duration { return watch.Since(start) },
	}
	for _, flag := range []string{"time", "preference-policy", "min-values-policy", "move-cost"} {
		if f.given(flag) {
			cfg.Asked = append(cfg.Asked, "--"+flag)
		}
	}
	switch {
	case len(f.manifests) == 0:
		return cfg, errors.New("simulate: no manifests: name a file or folder with -f")
	case f.catalog != "" && f.region != "":
		return cfg, errors.New("simulate: --catalog and --region exclude each other")
	case f.output != "table" && f.output != "json":
		return cfg, fmt.Errorf("simulate: -o %s: want table or json", f.output)
	}
	if f.time != "" {
		at, err := time.Parse(time.RFC3339, f.time)
		if err != nil {
			return cfg, fmt.Errorf("simulate: --time %s: want RFC 3339, such as 2026-01-31T12:00:00Z", f.time)
		}
		cfg.Time = at.UTC()
	}
	return cfg, nil
}

func (f *simulateFlags) run(ctx context.Context, c *cobra.Command) error {
	cfg, err := f.config()
	if err != nil {
		return &exitError{exitBadInput, err}
	}
	result, err := simulate.Run(ctx, cfg)
	switch {
	case errors.Is(err, simulate.ErrDefect):
		return &exitError{exitDefect, err}
	case err != nil:
		return &exitError{exitBadInput, err}
	}
	if !f.quiet {
		warn(c.ErrOrStderr(), result)
	}
	write := result.Report.WriteTable
	if f.output == "json" {
		write = result.Report.WriteJSON
	}
	if err := write(c.OutOrStdout()); err != nil {
		return &exitError{exitDefect, err}
	}
	if result.Report.Waits() {
		return &exitError{code: exitUnscheduled}
	}
	return nil
}

func warn(w io.Writer, result *simulate.Result) {
	for _, warning := range result.Warnings {
		_, _ = fmt.Fprintf(w, "warning: %s\n", warning) // a warning that cannot be written does not stop the report
	}
}
