package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"spokeshave.dev/controller/rehearse/author"
)

const vetHelp = `Vet checks policies as the controller would before they go live: settings, size,
imports and exports of a module, names and types in Rego, configuration, the
tests that a Rego policy brings along, and one question of each hook with
nothing to decide. Its messages are the controller's.

Exit codes: 0 the controller would take them, 1 it would reject one, 2 they
cannot be read.`

func vetCommand(ctx context.Context) *cobra.Command {
	var output, controllerNamespace string
	c := &cobra.Command{
		Use:   "vet PATH...",
		Short: "Check policies as the controller would",
		Long:  vetHelp,
		Example: `  spokeshave policy vet policies/budget
  spokeshave policy vet examples/rego-budget/configmap.yaml -o json`,
		Args: arguments(1, unlimited),
		RunE: func(c *cobra.Command, args []string) error {
			return vet(ctx, c, args, controllerNamespace, output)
		},
	}
	outputFlag(c, &output, "table", "json")
	controllerNamespaceFlag(c, &controllerNamespace)
	return c
}

func controllerNamespaceFlag(c *cobra.Command, into *string) {
	c.Flags().StringVar(into, "controller-namespace", author.Namespace, "namespace of the controller; ceilings are allowed in no other")
}

func vet(ctx context.Context, c *cobra.Command, paths []string, controllerNamespace, output string) error {
	var found []author.Finding
	for _, path := range paths {
		sources, err := author.Open(ctx, path)
		if err != nil {
			return unopened("vet", err)
		}
		for i := range sources {
			found = append(found, sources[i].Find(ctx, controllerNamespace, now()))
		}
	}
	refused := 0
	for i := range found {
		if f := &found[i]; f.Reason != "" {
			refused++
		}
	}
	if output == "json" {
		if err := writeJSON(c.OutOrStdout(), found); err != nil {
			return err
		}
	} else {
		printFindings(c, found)
	}
	if refused > 0 {
		return &exitError{code: exitRefused}
	}
	return nil
}

func printFindings(c *cobra.Command, found []author.Finding) {
	for i := range found {
		f := &found[i]
		if f.Reason != "" {
			say(c.ErrOrStderr(), "%s: %s", f.At, f.Reason)
			continue
		}
		hooks := make([]string, 0, len(f.Hooks))
		for _, h := range f.Hooks {
			hooks = append(hooks, string(h))
		}
		say(c.OutOrStdout(), "ok  %s  %s %s  %d bytes  %.12s", f.Policy, f.Engine, strings.Join(hooks, ","), f.Size, f.Hash)
		for _, note := range f.Notes {
			say(c.OutOrStdout(), "    note: %s", note)
		}
	}
}
