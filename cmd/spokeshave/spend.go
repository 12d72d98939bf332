package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"spokeshave.dev/controller/kube/remote"
	"spokeshave.dev/controller/rehearse/author"
	"spokeshave.dev/controller/rehearse/spending"
)

const spendHelp = `Spend shows what nodes have cost, by namespace, workload, NodePool, instance family,
capacity type or day: the dearest first. The controller keeps each UTC day of the last
twelve months in ConfigMaps of its namespace, beside the ledger of the running month.

Amounts are what the controller has counted at list and spot prices, not the invoice:
Savings Plans and negotiated discounts are not known. (idle) is capacity that no pod
requests, (daemonset) are the pods of all DaemonSets. What the days lack of what the
ledger has counted is said on standard error.

It reads ConfigMaps with your own kubeconfig and sends nothing to the controller. In its
namespace you need to get configmaps.

Exit codes: 0 shown, 2 bad input, or a cluster that does not answer, 3 nothing is known of
that time.`

// spendFlags say which spend is read, and from where.
type spendFlags struct {
	access    remote.Access
	namespace string
	files     []string
	from, to  string
}

func (f *spendFlags) add(c *cobra.Command) {
	accessFlags(c, &f.access)
	fs := c.Flags()
	fs.StringVarP(&f.namespace, "controller-namespace", "n", author.Namespace, "namespace of the controller")
	fs.StringArrayVarP(&f.files, "filename", "f", nil, "read ConfigMaps from this file and not from a cluster, as kubectl get configmaps -o yaml writes them; may be repeated")
	fs.StringVar(&f.from, "from", "", "first day, such as 2026-11-01, UTC (default: the first of this month)")
	fs.StringVar(&f.to, "to", "", "the day after the last (default: tomorrow)")
}

// span returns the time that the flags name.
func (f *spendFlags) span(now time.Time) (spending.Range, error) {
	day := now.UTC().Truncate(24 * time.Hour)
	r := spending.Range{From: day.AddDate(0, 0, 1-day.Day()), To: day.AddDate(0, 0, 1)}
	for _, each := range []struct {
		name, text string
		into       *time.Time
	}{{"--from", f.from, &r.From}, {"--to", f.to, &r.To}} {
		if each.text == "" {
			continue
		}
		at, err := time.Parse(time.DateOnly, each.text)
		if err != nil {
			return r, fmt.Errorf("%s %s: want a day such as 2026-11-01", each.name, each.text)
		}
		*each.into = at
	}
	if !r.From.Before(r.To) {
		return r, fmt.Errorf("from %s to %s: want a first day, and the day after the last", r.From.Format(time.DateOnly), r.To.Format(time.DateOnly))
	}
	return r, nil
}

// read returns the book, and the range that it was read for.
func (f *spendFlags) read(ctx context.Context) (*spending.Book, spending.Range, error) {
	r, err := f.span(now())
	if err != nil {
		return nil, r, err
	}
	if len(f.files) > 0 {
		b, err := spending.FromFiles(f.files)
		return b, r, err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	b, err := spending.FromCluster(ctx, f.access, f.namespace, r)
	return b, r, err
}

func spendCommand(ctx context.Context) *cobra.Command {
	var f spendFlags
	var by, output string
	c := &cobra.Command{
		Use:   "spend",
		Short: "Show what nodes have cost, by namespace, workload, NodePool or day",
		Long:  spendHelp,
		Example: `  # this month by namespace
  spokeshave spend

  # a month by NodePool, and by day
  spokeshave spend --from 2026-11-01 --to 2026-12-01 --by nodepool
  spokeshave spend --from 2026-11-01 --to 2026-12-01 --by day

  # from a copy of the ConfigMaps
  kubectl -n spokeshave get configmaps -o yaml > spend.yaml
  spokeshave spend -f spend.yaml --from 2026-11-01 --to 2026-12-01 --by workload

  spokeshave spend -o json | jq '.sums[0]'`,
		Args: noSubcommand,
	}
	outputFlag(c, &output, "table", "json")
	c.Flags().StringVar(&by, "by", "namespace", "what each line is: "+strings.Join(spending.Ways(), ", "))
	completeFlag(c, "by", spending.Ways()...)
	f.add(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if !slices.Contains(spending.Ways(), by) {
			return &exitError{exitBadInput, fmt.Errorf("spend: --by %s: want one of %s", by, strings.Join(spending.Ways(), ", "))}
		}
		book, r, err := f.read(ctx)
		if err != nil {
			return spendError("spend", err)
		}
		report := spending.Of(book, r, by)
		if len(report.Sums) == 0 {
			return spendError("spend", errNoDays)
		}
		if output == "json" {
			return writeJSON(c.OutOrStdout(), report)
		}
		if err := report.WriteTable(c.OutOrStdout()); err != nil {
			return spendError("spend", err)
		}
		if report.Estimated {
			say(c.ErrOrStderr(), "a part is estimated from the instances that ran when the controller first looked")
		}
		for _, gap := range report.Gaps {
			say(c.ErrOrStderr(), "warning: %s", gap)
		}
		return nil
	}
	c.AddCommand(spendExportCommand(ctx))
	return c
}

var errNoDays = errors.New("nothing is known of that time: the history has the days since a controller that keeps it was installed, of the last twelve months")

// spendError adds the command's name and the exit code.
func spendError(command string, err error) error {
	code := exitBadInput
	if errors.Is(err, errNoDays) || errors.Is(err, spending.ErrNothing) {
		code = exitUnscheduled
	}
	return &exitError{code, fmt.Errorf("%s: %w", command, err)}
}
