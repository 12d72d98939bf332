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
		Long: `spokeshave answers questions about the nodes of a cluster, decides from files what the controller
would decide, and helps to write policies. It makes the very decisions that the controller makes.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	chapter(root, "Look at a cluster:", topCommand(ctx), spendCommand(ctx), explainCommand(ctx), doctorCommand(ctx), observeCommand(ctx), failuresCommand(ctx))
	chapter(root, "Decide without a cluster, or beside one:", simulateCommand(ctx), snapshotCommand(ctx), replayCommand(ctx), backtestCommand(ctx), convertCommand(), catalogCommand())
	chapter(root, "Write policies:", policyCommand(ctx))
	chapter(root, "Others:", commandsCommand(), versionCommand())
	group(root)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if given := c.Flags().Args(); c.HasSubCommands() && len(given) > 0 { // the flag may be that of the command that was meant
			return noSubcommand(c, given)
		}
		return err
	})
	root.SetHelpCommandGroupID("Others:")
	root.SetCompletionCommandGroupID("Others:")
	return root
}

// chapter adds commands under a title of the help.
func chapter(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	root.AddCommand(commands...)
}

// group adds subcommands to a command. Without a subcommand it prints its help. An
// unknown subcommand is an error, where cobra alone would print the help and succeed.
func group(c *cobra.Command, commands ...*cobra.Command) {
	c.Args = noSubcommand
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.AddCommand(commands...)
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := rootCommand(ctx)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	c, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	var exit *exitError
	if !errors.As(err, &exit) { // cobra's own: an unknown flag or command
		exit = &exitError{code: exitBadInput, err: misused(c, err)}
	}
	if exit.err != nil {
		_, _ = fmt.Fprintf(stderr, "spokeshave: %v\n", exit.err) // write errors are ignored
	}
	return exit.code
}
