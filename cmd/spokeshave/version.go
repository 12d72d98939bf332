package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is the version of the build, set by the linker (-ldflags -X main.version=…).
var version string

func versionCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: `Version prints the version of spokeshave, and of Go that built it.

Exit codes: 0 printed, 2 bad flags.`,
		Example: `  spokeshave version
  spokeshave version -o json | jq -r .version`,
		Args: arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if output == "json" {
				return writeJSON(c.OutOrStdout(), map[string]string{"version": buildVersion(), "go": runtime.Version()})
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "spokeshave %s (%s)\n", buildVersion(), runtime.Version())
			return err
		},
	}
	outputFlag(c, &output, "text", "json")
	return c
}

// buildVersion returns version, or what the Go toolchain recorded if that is empty.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "dev"
}
