package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"spokeshave.dev/controller/rehearse/author"
	"spokeshave.dev/controller/rehearse/take"
)

const snapshotHelp = `Snapshot writes what a decision about a live cluster would be made of: NodePools,
nodes, pods and what they ask for, instance types and prices, the policies. It is
what the controller looks at and nothing more: no images, commands, environment,
annotations. simulate -f reads it.

It asks with your own kubeconfig, and only reads: nodepools, nodeclaims, nodes,
pods and daemonsets must be readable; of node classes, namespaces, limit ranges,
runtime, priority and storage classes, volumes and their claims, disruption
budgets and the policies' ConfigMaps, those of plugin namespaces too, it takes what
it may read, and says what it could not. Secrets are never read.

Prices and availability are those of the embedded catalogue, for the region that
the nodes are in, unless --catalog or --region says otherwise. What the controller
itself saw stands in its decision log (spokeshave replay --help).

--anonymize replaces every name that is not Kubernetes', Karpenter's or AWS's own,
and leaves the policies out. Equal names stay equal and in order, so that the
decisions stay the same.

Exit codes: 0 written, 2 bad input, or a cluster that does not answer.`

type snapshotFlags struct {
	take.Config

	output string
	quiet  bool
}

func snapshotCommand(ctx context.Context) *cobra.Command {
	var f snapshotFlags
	c := &cobra.Command{
		Use:   "snapshot > FILE",
		Short: "Write what a decision about a live cluster is made of",
		Long:  snapshotHelp,
		Example: `  spokeshave snapshot > cluster.json.gz
  spokeshave simulate -f cluster.json.gz

  # to show to somebody else
  spokeshave snapshot --anonymize > cluster.json.gz

  # as plain JSON
  spokeshave snapshot -o json | jq '.snapshot.pools[].name'`,
		Args: arguments(0, 0),
	}
	outputFlag(c, &f.output, "json.gz", "json")
	accessFlags(c, &f.Access)
	fs := c.Flags()
	fs.StringVarP(&f.Namespace, "controller-namespace", "n", author.Namespace, "namespace of the controller and its policies")
	fs.StringSliceVar(&f.Plugins, "plugin-namespaces", nil, "further namespaces with policies (default: those that the controller's status names)")
	fs.StringVar(&f.Cluster, "cluster-name", "", "name of the cluster, for the record")
	fs.StringVar(&f.Catalog, "catalog", "", "catalogue file, as spokeshave catalog export writes it")
	fs.StringVar(&f.Region, "region", "", "region of the embedded catalogue (default: the one the nodes are in, else us-east-1)")
	completeRegions(c)
	fs.StringVar(&f.PreferencePolicy, "preference-policy", "Respect", "Respect or Ignore pods' preferences, as the controller's setting")
	fs.StringVar(&f.MinValuesPolicy, "min-values-policy", "Strict", "Strict or BestEffort, as the controller's setting")
	moveCostFlag(fs, &f.MoveCost)
	fs.BoolVar(&f.Anonymize, "anonymize", false, "replace names")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no warnings on standard error")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := f.run(ctx, c); err != nil {
			return &exitError{exitBadInput, fmt.Errorf("snapshot: %w", err)}
		}
		return nil
	}
	return c
}

func (f *snapshotFlags) run(ctx context.Context, c *cobra.Command) error {
	out := c.OutOrStdout()
	switch {
	case f.Catalog != "" && f.Region != "":
		return errors.New("--catalog and --region exclude each other")
	case f.output == "json.gz" && terminal(out):
		return errors.New("standard output is a terminal: write to a file, as in snapshot > cluster.json.gz, or use -o json")
	}
	f.Time = now()
	result, err := take.Snapshot(ctx, &f.Config)
	if err != nil {
		return err
	}
	if !f.quiet {
		for _, w := range result.Warnings {
			say(c.ErrOrStderr(), "warning: %s", w)
		}
		s := &result.Taken.Snapshot
		say(c.ErrOrStderr(), "%d NodePools, %d nodes, %d pods, %d policies; digest %.12s", len(s.Pools), len(s.Nodes), len(s.Pods), len(result.Taken.Policies), result.Taken.Digest)
	}
	if f.output == "json" {
		return result.Taken.WriteJSON(out)
	}
	return result.Taken.WriteCompressed(out)
}

// terminal reports whether output goes to a terminal.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
