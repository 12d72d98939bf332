package main

import (
	"github.com/spf13/cobra"

	"spokeshave.dev/controller/cloud/catalog"
)

// completeFlag lets the Tab key complete the values of a flag, in place of file names.
func completeFlag(c *cobra.Command, flag string, values ...string) {
	// Its error is that of a flag that does not exist, or has values already: TestCompletedValues
	// asks for all of them.
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeFirst lets the Tab key complete the first argument. The others are names, for which
// nothing is offered.
func completeFirst(c *cobra.Command, values ...string) {
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return values, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeRegions does that for --region, where there is one that names a catalogue.
func completeRegions(c *cobra.Command) { completeFlag(c, "region", catalog.Regions()...) }
