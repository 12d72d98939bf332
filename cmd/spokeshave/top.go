package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/wait"

	"spokeshave.dev/controller/rehearse/author"
	"spokeshave.dev/controller/rehearse/take"
	"spokeshave.dev/controller/rehearse/top"
)

const topHelp = `Top shows the nodes of a cluster, what each costs an hour, and how much of it pods
request: the dearest first. Nodes that no NodePool owns have no price. On a narrow
terminal bars and columns are left out; a pipe gets all of them.

It asks with your own kubeconfig, and only reads (see spokeshave snapshot --help for what).
Prices are those of the embedded catalogue, for the region that the nodes are in,
unless --catalog or --region says otherwise.

Exit codes: 0 shown, 2 bad input, or a cluster that does not answer.`

type topFlags struct {
	take.Config

	pool   string
	order  string
	watch  time.Duration
	output string
}

func topCommand(ctx context.Context) *cobra.Command {
	var f topFlags
	c := &cobra.Command{
		Use:   "top [--watch [INTERVAL]]",
		Short: "Show nodes with their prices and how full they are",
		Long:  topHelp,
		Example: `  spokeshave top

  # the emptiest nodes of a NodePool, anew every ten seconds
  spokeshave top --nodepool general --sort cpu --watch 10s

  spokeshave top -o json | jq '.total.price'`,
		Args: arguments(0, 1),
	}
	outputFlag(c, &f.output, "table", "json")
	accessFlags(c, &f.Access)
	fs := c.Flags()
	fs.StringVar(&f.pool, "nodepool", "", "only nodes of this NodePool")
	fs.StringVar(&f.order, "sort", "price", "what comes first: the highest price or age, the least requested cpu or memory, or by name: "+strings.Join(top.Orders(), ", "))
	completeFlag(c, "sort", top.Orders()...)
	fs.DurationVarP(&f.watch, "watch", "w", 0, "show it anew after this time, until Ctrl-C")
	fs.Lookup("watch").NoOptDefVal = "5s"
	fs.StringVar(&f.Catalog, "catalog", "", "catalogue file, as spokeshave catalog export writes it")
	fs.StringVar(&f.Region, "region", "", "region of the embedded catalogue (default: the one the nodes are in, else us-east-1)")
	completeRegions(c)
	f.Namespace = author.Namespace
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 { // the interval of --watch, which needs none
			interval, err := time.ParseDuration(args[0])
			if err != nil || !c.Flags().Changed("watch") {
				return fmt.Errorf("unexpected argument %q: %s", args[0], c.UseLine())
			}
			f.watch = interval
		}
		if err := f.run(ctx, c.OutOrStdout()); err != nil {
			return &exitError{exitBadInput, fmt.Errorf("top: %w", err)}
		}
		return nil
	}
	return c
}

func (f *topFlags) run(ctx context.Context, out io.Writer) error {
	switch {
	case !slices.Contains(top.Orders(), f.order):
		return fmt.Errorf("--sort %s: want one of %s", f.order, strings.Join(top.Orders(), ", "))
	case f.watch < 0:
		return fmt.Errorf("--watch %s: want 0 or more, such as 10s", f.watch)
	case f.Catalog != "" && f.Region != "":
		return errors.New("--catalog and --region exclude each other")
	}
	if err := f.show(ctx, out); err != nil || f.watch == 0 {
		return err
	}
	_ = wait.PollUntilContextCancel(ctx, f.watch, false, func(ctx context.Context) (bool, error) {
		// A cluster that does not answer now may do so the next time.
		if err := f.show(ctx, out); err != nil && ctx.Err() == nil {
			say(out, "%v", err)
		}
		return false, nil
	}) // its error is that of ctx: somebody has seen enough
	return nil
}

// clearScreen moves the cursor of a terminal to the top and clears the screen.
const clearScreen = "\x1b[H\x1b[2J"

func (f *topFlags) show(ctx context.Context, out io.Writer) error {
	f.Time = now()
	result, err := take.Snapshot(ctx, &f.Config)
	if err != nil {
		return err
	}
	s := top.Of(&result.Taken.Snapshot, f.pool)
	s.Sort(f.order)
	if f.output == "json" {
		return writeJSON(out, s)
	}
	if f.watch > 0 && terminal(out) {
		_, _ = io.WriteString(out, clearScreen) // the table's error tells
	}
	return s.WriteTable(out)
}
