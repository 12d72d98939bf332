package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"spokeshave.dev/controller/cloud/aws/accountcheck"
)

// errFailed says that a check failed; the table says which.
var errFailed = errors.New("a check failed")

// options are the command's flags.
type options struct {
	checks accountcheck.Config
	list   bool
	output string
}

func command() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "awscheck --cluster NAME",
		Short: "Check against a real AWS account what only a real account can show",
		Long: `awscheck makes twenty checks of an AWS account: fifteen that only read, and, with --spend, five
that launch one on-demand and one spot instance of the smallest types, look at them and end them.
Expected cost with --spend: under 0.01 $. Without it: nothing.

Credentials and region are those that the AWS SDK finds. The actions of examples/iam's policy are
enough. What --spend makes has the cluster's tags; after an interruption the running controller of
that cluster removes it, or: aws ec2 describe-instances --filters Name=tag:spokeshave.dev/check,Values=true

Exit code: 0 when every check that was run succeeded, 1 when one failed, 2 when none could be run.`,
		Example: `  go run ./cmd/awscheck --cluster demo
  go run ./cmd/awscheck --cluster demo --queue demo --spend
  go run ./cmd/awscheck --list`,
		Args: cobra.NoArgs, SilenceErrors: true, SilenceUsage: true,
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.checks.Cluster, "cluster", "", "name of the EKS cluster")
	f.StringVar(&o.checks.Discovery, "discovery", "", "value of the tag karpenter.sh/discovery on subnets and security groups (default the cluster's name)")
	f.StringVar(&o.checks.Queue, "queue", "", "name of the interruption queue (default: not checked)")
	f.StringVar(&o.checks.KubernetesVersion, "kubernetes-version", "", `version of Kubernetes for images, such as "1.34" (default the cluster's)`)
	f.StringVar(&o.checks.At.Region, "region", "", "region (default what the AWS SDK finds)")
	f.StringVar(&o.checks.At.Endpoint, "aws-endpoint", "", "URL of another endpoint than AWS's")
	f.BoolVar(&o.checks.Spend, "spend", false, "also make the checks that launch instances (under 0.01 $)")
	f.BoolVar(&o.list, "list", false, "list the checks and run none")
	f.StringVarP(&o.output, "output", "o", "table", "table or json")
	return c
}

func run(ctx context.Context, out, progress io.Writer, o options) error {
	if o.output != "table" && o.output != "json" {
		return fmt.Errorf("--output %s: want table or json", o.output)
	}
	if o.list {
		return list(out)
	}
	if o.checks.Cluster == "" {
		return errors.New("--cluster is missing; --list says what is checked")
	}
	o.checks.Progress = func(number int, c accountcheck.Check) {
		_, _ = fmt.Fprintf(progress, "%2d of %d  %s …\n", number, len(accountcheck.Checks()), c.Name)
	}
	results, err := accountcheck.Run(ctx, o.checks)
	if err != nil {
		return err
	}
	if err := write(out, o.output, results); err != nil {
		return err
	}
	for _, r := range results {
		if r.Outcome == accountcheck.Failed {
			return errFailed
		}
	}
	return nil
}

func write(out io.Writer, format string, results []accountcheck.Result) error {
	if format == "json" {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(results)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "CHECK\tOUTCOME\tSECONDS\tFOUND")
	for _, r := range results {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%.1f\t%s\n", r.Check, r.Outcome, r.Seconds, r.Found)
	}
	return w.Flush()
}

// list prints what is checked, and what only a real account can show about it.
func list(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "CHECK\tCALLS\tWHAT A REAL ACCOUNT SHOWS")
	for _, c := range accountcheck.Checks() {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", c.Name, c.Calls, c.Shows)
	}
	return w.Flush()
}
