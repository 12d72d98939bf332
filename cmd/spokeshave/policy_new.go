package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"spokeshave.dev/controller/rehearse/scaffold"
)

const newHelp = `New makes a folder with a policy that works: its source, tests, cases, policy.yaml
and a README that says how to go on. The SDK of the language is in it, so that
it builds without a network.

Exit codes: 0 made, 2 the folder exists, or a name, hook or language that there
is not.`

func newCommand() *cobra.Command {
	p, output := scaffold.Project{}, ""
	languages, hooks := strings.Join(scaffold.Languages(), ", "), strings.Join(scaffold.Hooks(), "|")
	c := &cobra.Command{
		Use:   "new " + hooks + " NAME",
		Short: "Start a new policy: a folder that works",
		Long:  newHelp,
		Example: `  spokeshave policy new rank avoid-family --lang go
  spokeshave policy new ceiling team-budget --lang rego`,
		Args: arguments(2, 2),
		RunE: func(c *cobra.Command, args []string) error {
			p.Hook, p.Name = args[0], filepath.Base(args[1])
			if err := p.Write(args[1]); err != nil {
				return unread("new", err)
			}
			if output == "json" {
				return writeJSON(c.OutOrStdout(), map[string]string{"name": p.Name, "hook": p.Hook, "language": p.Language, "folder": args[1]})
			}
			say(c.OutOrStdout(), "%s: see %s", args[1], filepath.Join(args[1], "README.md"))
			return nil
		},
	}
	outputFlag(c, &output, "text", "json")
	c.Flags().StringVar(&p.Language, "lang", "rego", languages)
	completeFlag(c, "lang", scaffold.Languages()...)
	completeFirst(c, scaffold.Hooks()...)
	return c
}
