package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Exit codes of all commands but policy. They are a stable interface for scripts.
const (
	exitOK          = 0
	exitDefect      = 1
	exitBadInput    = 2
	exitUnscheduled = 3
)

// exitError makes the program exit with a code. Its error is nil when nothing more has
// to be printed.
type exitError struct {
	code int
	err  error
}

// Error implements error.
func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

// Unwrap returns the cause.
func (e *exitError) Unwrap() error { return e.err }

// rootCommand returns the command line with all commands.
func rootCommand(ctx context.Context) *cobra.Command {
	root := &cobra.Command{
		Use:   "spokeshave",
		Short: "Simulate node decisions, write policies, and show what EC2 sells",
		Long: `spokeshave answers questions about nodes without a cluster, and helps to write policies.

  doctor           what a swap from Karpenter would meet, and how a controller does
  convert          NodePools and EC2NodeClasses of node groups, for a move from Cluster Autoscaler
  top              nodes, what they cost, and how full they are
  spend            what nodes have cost by namespace, NodePool or day; as FOCUS rows
  simulate         which nodes would be launched for these manifests, and why
  snapshot         what a decision about a live cluster is made of, for simulate -f
  catalog export   the EC2 instance types and prices that it knows
  explain          why a pod, node or NodePool is as it is, asked of a running controller
  observe          what a controller in mode Observe would do, and what that would cost
  replay           make a recorded decision again, with its policies or others
  backtest         what days of workload would cost with these policies, or those
  policy           check, test and compare policies, and push them to a cluster
  completion       what the Tab key needs in bash, zsh, fish and PowerShell

It makes the very decisions that the controller makes.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(doctorCommand(ctx), convertCommand(), topCommand(ctx), spendCommand(ctx), simulateCommand(ctx), catalogCommand(), policyCommand(ctx), explainCommand(ctx), observeCommand(ctx), snapshotCommand(ctx), replayCommand(ctx), failuresCommand(ctx), backtestCommand(ctx), commandsCommand(), versionCommand())
	return root
}

// group adds subcommands to a command. Without a subcommand it prints its help. An
// unknown subcommand is an error, where cobra alone would print the help and succeed.
func group(c *cobra.Command, commands ...*cobra.Command) {
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.AddCommand(commands...)
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := rootCommand(ctx)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	var exit *exitError
	if !errors.As(err, &exit) { // cobra's own: an unknown flag or command
		exit = &exitError{code: exitBadInput, err: err}
	}
	if exit.err != nil {
		_, _ = fmt.Fprintf(stderr, "spokeshave: %v\n", exit.err) // write errors are ignored
	}
	return exit.code
}
