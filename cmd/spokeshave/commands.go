package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// described is a command as data. The man pages of a release are made of it.
type described struct {
	// Name is its last word, Use that with its arguments.
	Name     string          `json:"name"`
	Use      string          `json:"use"`
	Short    string          `json:"short"`
	Long     string          `json:"long,omitempty"`
	Example  string          `json:"example,omitempty"`
	Flags    []describedFlag `json:"flags,omitempty"`
	Commands []described     `json:"commands,omitempty"`
}

// describedFlag is a flag of a command.
type describedFlag struct {
	Name      string `json:"name"`
	Shorthand string `json:"shorthand,omitempty"`
	// Type is that of its values: string, bool, duration and so on.
	Type    string `json:"type"`
	Default string `json:"default,omitempty"`
	// Bare is the value of the flag without one.
	Bare  string `json:"bare,omitempty"`
	Usage string `json:"usage"`
}

func commandsCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "commands",
		Short: "Describe all commands as data",
		Long: `Commands prints every command with its help, its examples and its flags, for programs that
write documentation or completions. The man pages of a release are made of it.

Exit codes: 0 printed, 2 bad flags.`,
		Example: `  spokeshave commands
  spokeshave commands -o json | jq -r '.commands[].name'`,
		Args: arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return writeJSON(c.OutOrStdout(), describe(c.Root()))
		},
	}
	outputFlag(c, &output, "json")
	return c
}

// describe returns a command with the commands below it, without hidden ones.
func describe(c *cobra.Command) described {
	out := described{Name: c.Name(), Use: c.Use, Short: c.Short, Long: c.Long, Example: c.Example}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Hidden {
			return
		}
		out.Flags = append(out.Flags, describedFlag{
			Name: f.Name, Shorthand: f.Shorthand, Type: f.Value.Type(), Default: f.DefValue, Bare: f.NoOptDefVal, Usage: f.Usage,
		})
	})
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			out.Commands = append(out.Commands, describe(sub))
		}
	}
	return out
}
