package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/controller/rehearse/author"
)

const packHelp = `Pack makes the ConfigMap of a policy and prints it. A Go program is built, with
the go command; a module is compressed. The policy is vetted, and its size
checked against what a ConfigMap holds. The content hash, by which the status
names versions, goes to standard error.

Apply it with kubectl apply --server-side, or have spokeshave policy push do all
of it: a plain kubectl apply refuses objects of this size.

Exit codes: 0 packed, 1 the controller would reject it, 2 bad input.`

func packCommand(ctx context.Context) *cobra.Command {
	var output, controllerNamespace string
	var f author.Naming
	c := &cobra.Command{
		Use:   "pack PATH",
		Short: "Print the ConfigMap of a policy",
		Long:  packHelp,
		Example: `  spokeshave policy pack policies/budget > budget.yaml
  spokeshave policy pack examples/wasm-rank-go --name avoid-family | kubectl apply --server-side -f -`,
		Args: arguments(1, 1),
	}
	outputFlag(c, &output, "yaml", "json")
	namingFlags(c, &f)
	controllerNamespaceFlag(c, &controllerNamespace)
	c.RunE = func(c *cobra.Command, args []string) error {
		s, found, err := vetted(ctx, "pack", args[0], controllerNamespace, f)
		if err != nil {
			return err
		}
		say(c.ErrOrStderr(), "%s/%s: %s, %d bytes, %s", s.ConfigMap.Namespace, s.Name(), found.Engine, found.Size, found.Hash)
		if output == "json" {
			return writeJSON(c.OutOrStdout(), s.ConfigMap)
		}
		text, err := yaml.Marshal(s.ConfigMap)
		if err != nil {
			return unread("pack", err)
		}
		if _, err := c.OutOrStdout().Write(text); err != nil {
			return unread("pack", err)
		}
		return nil
	}
	return c
}

func namingFlags(c *cobra.Command, f *author.Naming) {
	c.Flags().StringVarP(&f.Namespace, "namespace", "n", "", "namespace of the policy (default: that of its ConfigMap, else "+author.Namespace+")")
	c.Flags().StringVar(&f.Name, "name", "", "name of the policy (default: that of its ConfigMap or folder)")
}

// vetted opens the single policy at a path for a command, renames it as f says, and checks it
// and its size.
func vetted(ctx context.Context, command, path, controllerNamespace string, f author.Naming) (*author.Source, author.Finding, error) {
	sources, err := author.Open(ctx, path)
	if err != nil {
		return nil, author.Finding{}, unopened(command, err)
	}
	if len(sources) != 1 {
		return nil, author.Finding{}, &exitError{exitUnread, fmt.Errorf("%s holds %d policies: name one", path, len(sources))}
	}
	s := &sources[0]
	if err := s.Rename(f); err != nil {
		return nil, author.Finding{}, &exitError{exitUnread, err}
	}
	found := s.Find(ctx, controllerNamespace, now())
	if found.Reason != "" {
		return nil, found, badPolicy(fmt.Errorf("%s: %s", found.At, found.Reason))
	}
	return s, found, nil
}
