package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"spokeshave.dev/controller/rehearse/author"
)

const casesHelp = `Test vets policies and asks them the questions in cases/*.yaml beside them: rows
and what is expected of scores, order, verdicts, caps and reasons, or a scenario
of manifests and the plan expected. docs/policies.md has the format. What fails
is named with file and line.

Exit codes: 0 every case passes, 1 one fails or the policy is rejected, 2 bad
input.`

func testCommand(ctx context.Context) *cobra.Command {
	var output string
	var verbose bool
	c := &cobra.Command{
		Use:   "test PATH...",
		Short: "Ask policies the cases that their authors wrote",
		Long:  casesHelp,
		Example: `  spokeshave policy test policies/budget
  spokeshave policy test policies -v`,
		Args: arguments(1, unlimited),
	}
	outputFlag(c, &output, "table", "json")
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "name the cases that pass, too")
	c.RunE = func(c *cobra.Command, args []string) error {
		all := []author.CaseResult{}
		for _, path := range args {
			some, err := testPath(ctx, c, path)
			if err != nil {
				return err
			}
			all = append(all, some...)
		}
		failed := 0
		for i := range all {
			if all[i].Failures != nil {
				failed++
			}
		}
		if output == "json" {
			if err := writeJSON(c.OutOrStdout(), all); err != nil {
				return err
			}
		} else {
			printResults(c, all, verbose)
			say(c.OutOrStdout(), "%d cases, %d failed", len(all), failed)
		}
		if failed > 0 {
			return &exitError{code: exitRefused}
		}
		return nil
	}
	return c
}

func testPath(ctx context.Context, c *cobra.Command, path string) ([]author.CaseResult, error) {
	sources, err := author.Open(ctx, path)
	if err != nil {
		return nil, unopened("test", err)
	}
	var out []author.CaseResult
	for i := range sources {
		if f := sources[i].Find(ctx, sources[i].ConfigMap.Namespace, now()); f.Reason != "" {
			return nil, badPolicy(fmt.Errorf("%s: %s", f.At, f.Reason))
		}
		some, err := sources[i].Test(ctx)
		if err != nil {
			return nil, unread("test", err)
		}
		if len(some) == 0 {
			say(c.ErrOrStderr(), "%s: no cases: write cases/*.yaml", sources[i].At)
		}
		out = append(out, some...)
	}
	return out, nil
}

func printResults(c *cobra.Command, all []author.CaseResult, verbose bool) {
	for i := range all {
		r := &all[i]
		switch {
		case r.Failures != nil:
			say(c.OutOrStdout(), "FAIL  %s: %s", r.Policy, r.Name)
			if r.Reason != "" {
				say(c.OutOrStdout(), "      because %s", r.Reason)
			}
			for _, f := range r.Failures {
				say(c.OutOrStdout(), "      %s", f)
			}
		case verbose:
			say(c.OutOrStdout(), "ok    %s: %s", r.Policy, r.Name)
		}
	}
}
