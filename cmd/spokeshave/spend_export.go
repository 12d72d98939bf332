package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"spokeshave.dev/controller/record/focus"
)

const spendExportHelp = `Export writes what nodes have cost as rows of FOCUS 1.3, the FinOps Open Cost and Usage
Specification, for tools that read bills: a row for each day, NodePool, instance family,
capacity type, namespace and workload, and rows for unused capacity and DaemonSets.

BilledCost, EffectiveCost, ContractedCost and ListCost are equal: what the controller has
counted at list and spot prices. They are no invoice, and not to be added to the bill of
AWS, which has the same instances. x_Estimated marks what was not observed. docs/spend.md
explains the columns.

The ledger knows neither the account nor the region: name them with --billing-account
and --region.

Exit codes: 0 written, 2 bad input, or a cluster that does not answer, 3 nothing is known of
that time.`

// unknownAccount stands for a billing account that nobody has named: FOCUS allows no null.
const unknownAccount = "unknown"

type spendExportFlags struct {
	spendFlags

	format, output, out string
	of                  focus.Account
}

func spendExportCommand(ctx context.Context) *cobra.Command {
	var f spendExportFlags
	c := &cobra.Command{
		Use:   "export",
		Short: "Write what nodes have cost as FOCUS 1.3 rows",
		Long:  spendExportHelp,
		Example: `  spokeshave spend export --format focus --from 2026-11-01 --to 2026-12-01 \
    --billing-account 111122223333 --region eu-west-1 --cluster shop > november.csv

  # as Parquet, for DuckDB and others
  spokeshave spend export --from 2026-11-01 --to 2026-12-01 -o parquet --out november.parquet
  duckdb -c "SELECT x_Namespace, sum(EffectiveCost) FROM 'november.parquet' GROUP BY ALL"

  spokeshave spend export -o json | jq '.[0].ChargeDescription'`,
		Args: arguments(0, 0),
	}
	outputFlag(c, &f.output, "csv", "parquet", "json")
	f.add(c)
	fs := c.Flags()
	fs.StringVar(&f.format, "format", "focus", "the specification that rows follow: focus")
	completeFlag(c, "format", "focus")
	fs.StringVar(&f.out, "out", "", "file to write (default: standard output)")
	fs.StringVar(&f.of.ID, "billing-account", unknownAccount, "BillingAccountId of all rows: the AWS account that pays")
	fs.StringVar(&f.of.Region, "region", "", "RegionId of all rows (default: null)")
	fs.StringVar(&f.of.Cluster, "cluster", "", "name of the cluster, for x_Cluster and ResourceId (default: null)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := f.run(ctx, c); err != nil {
			return spendError("spend export", err)
		}
		return nil
	}
	return c
}

func (f *spendExportFlags) run(ctx context.Context, c *cobra.Command) error {
	switch {
	case f.format != "focus":
		return fmt.Errorf("--format %s: want focus", f.format)
	case f.of.ID == "":
		return errors.New("--billing-account: want an account: FOCUS allows no row without")
	case f.output == "parquet" && f.out == "" && terminal(c.OutOrStdout()):
		return errors.New("standard output is a terminal: name a file with --out, or use -o csv")
	}
	book, r, err := f.read(ctx)
	if err != nil {
		return err
	}
	rows := focus.Rows(book.Periods(r), f.of)
	if len(rows) == 0 {
		return errNoDays
	}
	for _, gap := range book.Gaps(r) {
		say(c.ErrOrStderr(), "warning: %s", gap)
	}
	if f.of.ID == unknownAccount {
		say(c.ErrOrStderr(), "warning: the BillingAccountId of all rows is %q: name it with --billing-account", unknownAccount)
	}
	if f.out == "" {
		return f.write(c.OutOrStdout(), rows)
	}
	file, err := os.Create(f.out)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	err = f.write(file, rows)
	if closeErr := file.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("--out: %w", closeErr)
	}
	if err == nil {
		say(c.OutOrStdout(), "%s: %d rows", f.out, len(rows))
	}
	return err
}

func (f *spendExportFlags) write(out io.Writer, rows []focus.Row) error {
	switch f.output {
	case "parquet":
		return focus.WriteParquet(out, rows)
	case "json":
		return focus.WriteJSON(out, rows)
	}
	return focus.WriteCSV(out, rows)
}
