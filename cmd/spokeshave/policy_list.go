package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"spokeshave.dev/controller/kube/remote"
	"spokeshave.dev/controller/rehearse/author"
	"spokeshave.dev/controller/rehearse/table"
)

const listHelp = `List prints what became of every policy in the cluster, from the controller's
status: its state, calls and faults, the version in force, the NodePools that the
administrator lets it touch, and why it is not active or what it was rejected for.

Exit codes: 0 printed, 2 no cluster.`

func listCommand(ctx context.Context) *cobra.Command {
	var output, controllerNamespace string
	var access remote.Access
	c := &cobra.Command{
		Use:   "list",
		Short: "Print what became of the policies in the cluster",
		Long:  listHelp,
		Example: `  spokeshave policy list
  spokeshave policy list -o json | jq '.[] | select(.state != "Active")'`,
		Args: arguments(0, 0),
	}
	outputFlag(c, &output, "table", "json")
	accessFlags(c, &access)
	c.Flags().StringVarP(&controllerNamespace, "controller-namespace", "n", author.Namespace, "namespace of the controller")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cluster, err := remote.Connect(access, controllerNamespace)
		if err != nil {
			return unread("list", err)
		}
		all, err := cluster.List(ctx)
		if err != nil {
			return unread("list", err)
		}
		if output == "json" {
			return writeJSON(c.OutOrStdout(), all)
		}
		w := table.New(c.OutOrStdout()).Prose().Spare("HASH", "ENGINE", "CALLS")
		_, _ = fmt.Fprintln(w, "NAMESPACE\tNAME\tSTATE\tHOOKS\tENGINE\tCALLS\tFAULTS\tHASH\tNODEPOOLS\tREASON")
		for i := range all {
			s := &all[i]
			hooks := make([]string, 0, len(s.Hooks))
			for _, h := range s.Hooks {
				hooks = append(hooks, string(h))
			}
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%d\t%.12s\t%s\t%s\n", s.Namespace, s.Name, s.State,
				strings.Join(hooks, ","), s.Engine, s.Calls, s.Faults, s.Hash, cmp.Or(s.Scope, "all"), strings.ReplaceAll(s.Reason, "\n", "; "))
		}
		if err := w.Flush(); err != nil {
			return unread("list", err)
		}
		return nil
	}
	return c
}
