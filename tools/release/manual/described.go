package manual

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// described is a command as "spokeshave commands" prints it.
type described struct {
	Name, Use, Short, Long, Example string

	Flags []struct {
		Name, Shorthand, Type, Default, Bare, Usage string
	}
	Commands []described
}

// command returns the command as cobra has it, which can be described and does nothing.
func (d described) command() *cobra.Command {
	c := &cobra.Command{
		Use: d.Use, Short: d.Short, Long: markdown(d.Long), Example: d.Example, DisableAutoGenTag: true,
		Run: func(*cobra.Command, []string) {},
	}
	c.CompletionOptions.DisableDefaultCmd = true
	for _, f := range d.Flags {
		c.Flags().AddFlag(&pflag.Flag{
			Name: f.Name, Shorthand: f.Shorthand, Usage: f.Usage, DefValue: f.Default, NoOptDefVal: f.Bare, Value: value{f.Default, f.Type},
		})
	}
	for _, sub := range d.Commands {
		c.AddCommand(sub.command())
	}
	return c
}

// value is a value of a flag that is only described.
type value struct{ text, kind string }

// String implements pflag.Value.
func (v value) String() string { return v.text }

// Type implements pflag.Value.
func (v value) Type() string { return v.kind }

// Set implements pflag.Value.
func (v value) Set(string) error { return nil }
