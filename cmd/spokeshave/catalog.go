package main

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"spokeshave.dev/controller/cloud/catalog"
)

func catalogCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "catalog",
		Short: "Show the embedded EC2 catalogue",
	}
	group(c, exportCommand())
	return c
}

func exportCommand() *cobra.Command {
	var region, output string
	c := &cobra.Command{
		Use:   "export --region REGION",
		Short: "Print a region's instance types, capacities and prices as JSON",
		Long: `Export prints the embedded catalogue of a region as a JSON array, one instance
type per line: labels, capacity, what is allocatable to pods on an EKS node with
default settings, and every offering with its price in USD per hour. The form is
the one that simulate --catalog reads.

The catalogue is a snapshot: live prices come from EC2 in the cluster. Zones are
named by zone ID (use1-az1 is us-east-1a here), and the region's spot prices are
dealt to its zones, because the source does not tie them.

Exit codes: 0 printed, 2 bad flags or no such region, 1 a defect.

Regions: ` + strings.Join(catalog.Regions(), ", "),
		Example: `  spokeshave catalog export --region us-west-2 > catalog.json
  spokeshave catalog export --region us-west-2 | jq -r '.[] | select(.arch == "arm64") | .name'`,
		Args: arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if output != "json" {
				return &exitError{exitBadInput, fmt.Errorf("catalog export: -o %s: want json", output)}
			}
			if region == "" {
				return &exitError{exitBadInput, fmt.Errorf("catalog export: --region must be set, to one of %s", strings.Join(catalog.Regions(), ", "))}
			}
			types, sales, err := catalog.Load(region)
			if err != nil {
				return &exitError{exitBadInput, err}
			}
			all := catalog.Lower(types, sales, catalog.Options{Region: region})
			out := bufio.NewWriter(c.OutOrStdout())
			if err := catalog.Write(out, &all); err != nil {
				return &exitError{exitDefect, err}
			}
			if err := out.Flush(); err != nil {
				return &exitError{exitDefect, fmt.Errorf("write catalog: %w", err)}
			}
			return nil
		},
	}
	c.Flags().StringVar(&region, "region", "", "region to export")
	completeRegions(c)
	c.Flags().StringVarP(&output, "output", "o", "json", "json")
	completeFlag(c, "output", "json")
	return c
}
