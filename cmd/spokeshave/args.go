package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// unlimited is the largest number of arguments of a command that takes any number.
const unlimited = -1

// arguments returns a check that a command has at least so many arguments, and at most
// so many. Its error shows the usage line, which names them.
func arguments(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("an argument is missing: %s", c.UseLine())
		case most != unlimited && len(args) > most:
			return fmt.Errorf("unexpected argument %q: %s", args[most], c.UseLine())
		}
		return nil
	}
}

// noSubcommand is the check of a command that has subcommands and no arguments. A
// misspelt subcommand is an error with those that are spelt like it.
func noSubcommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	c.SuggestionsMinimumDistance = min(2, max(1, len(args[0])/3)) // letters that may be wrong
	text := fmt.Sprintf("unknown command %q for %q", args[0], c.CommandPath())
	if like := c.SuggestionsFor(args[0]); len(like) > 0 {
		text += "; did you mean " + strings.Join(like, " or ") + "?"
	}
	return errors.New(text)
}

// misused is the error of a command that cannot be understood: an unknown flag or
// command, a missing argument. It names the help to read.
func misused(c *cobra.Command, err error) error {
	text := strings.TrimSpace(err.Error())
	if name := strings.TrimPrefix(c.CommandPath(), "spokeshave "); c.HasParent() && !strings.Contains(text, c.CommandPath()) {
		text = name + ": " + text
	}
	return fmt.Errorf("%s\nsee %s --help", text, c.CommandPath())
}
