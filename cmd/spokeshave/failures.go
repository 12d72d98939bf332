package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

const failuresHelp = `Failures prints the latest decisions that met a defect in Spokeshave, such as a
panic or a plan that failed its proof: one JSON object a line, with all that
spokeshave replay needs. The controller keeps the first of those that failed in the same way, in memory:
they are gone when it restarts. The decision log, if there is one, has them as well.

The lines contain the snapshot of the cluster, with the names of its objects.

It finds the replica that leads and forwards a port to it, as explain does.

Exit codes: 0 printed, 2 bad input or no controller, 3 no decision has failed.`

func failuresCommand(ctx context.Context) *cobra.Command {
	var output string
	var ask asked
	c := &cobra.Command{
		Use:   "failures",
		Short: "Print decisions that met a defect, for replay",
		Long:  failuresHelp,
		Example: `  spokeshave failures > failed.jsonl
  spokeshave failures -o json | jq '.[].id'`,
		Args: arguments(0, 0),
	}
	outputFlag(c, &output, "jsonl", "json")
	askFlags(c, &ask, "n")
	c.RunE = func(c *cobra.Command, _ []string) error {
		var records []json.RawMessage
		if err := ask.get(ctx, "/failures", &records); err != nil {
			return &exitError{exitBadInput, err}
		}
		if len(records) == 0 {
			return &exitError{exitUnscheduled, errors.New("no decision has failed since the controller started")}
		}
		if output == "json" {
			return writeJSON(c.OutOrStdout(), records)
		}
		for _, r := range records {
			if _, err := fmt.Fprintf(c.OutOrStdout(), "%s\n", r); err != nil {
				return fmt.Errorf("write: %w", err)
			}
		}
		return nil
	}
	return c
}
