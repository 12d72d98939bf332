package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"spokeshave.dev/controller/record/observe"
	"spokeshave.dev/controller/rehearse/table"
)

const observeHelp = `Observe compares a controller in mode Observe with what really runs: beside
Karpenter or another autoscaler, how many dollars the nodes cost, how many they
would have cost without those that it would have removed or replaced, and what was
launched on both sides.

It is a floor: since nothing is done, each look counts the next step of a
consolidation only. The controller keeps a month, hour by hour, in a ConfigMap of
its namespace; time in which it does not run does not count. Nodes that no NodeClaim
stands for are priced by the catalogue of the node classes in use.

It finds the replica that leads and forwards a port to it, as explain does.

Exit codes: 0 compared, 2 bad input or no controller, 3 nothing was observed yet:
the controller is not in mode Observe, or has only just begun.`

func observeCommand(ctx context.Context) *cobra.Command {
	var output string
	var ask asked
	var since time.Duration
	c := &cobra.Command{
		Use:   "observe",
		Short: "Compare what a controller in mode Observe would do with what really ran",
		Long:  observeHelp,
		Example: `  helm install spokeshave oci://REGISTRY/charts/spokeshave --namespace spokeshave \
    --create-namespace --set settings.clusterName=NAME --set controller.mode=Observe
  spokeshave observe
  spokeshave observe --since 168h -o json | jq '.total'`,
		Args: arguments(0, 0),
	}
	outputFlag(c, &output, "table", "json")
	askFlags(c, &ask, "n")
	c.Flags().DurationVar(&since, "since", 24*time.Hour, "the period to compare, until now")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if since <= 0 {
			return &exitError{exitBadInput, fmt.Errorf("--since %s: want a duration above 0", since)}
		}
		var all observe.Report
		if err := ask.get(ctx, "/observed", &all); err != nil {
			return &exitError{exitBadInput, err}
		}
		r := all.Since(all.To.Add(-since))
		if len(r.Hours) == 0 {
			return &exitError{exitUnscheduled, errors.New("nothing was observed: is the controller in mode Observe (controller.mode of the chart)?")}
		}
		if output == "json" {
			return writeJSON(c.OutOrStdout(), struct {
				observe.Report
				Total observe.Hour `json:"total"`
			}{r, r.Total()})
		}
		return printObserved(c.OutOrStdout(), &r)
	}
	return c
}

func printObserved(out io.Writer, r *observe.Report) error {
	total := r.Total()
	say(out, "Now: %s $/h run; the next step would take off %s $/h by removing or replacing %d nodes,", r.Now.Rate, r.Now.Saves, r.Now.Remove)
	say(out, "and %d nodes would be launched for pods that wait; %d pods would wait on.", r.Now.Launch, r.Now.Waiting)
	say(out, "From %s to %s (%s seen):", r.From.Format(time.RFC3339), r.To.Format(time.RFC3339), time.Duration(total.Seconds)*time.Second)
	w := table.New(out)
	_, _ = fmt.Fprintln(w, "\tCOST $\tLAUNCHED\tAT $/H\tREMOVED")
	row := func(name string, s *observe.Side) {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%d\n", name, dollars(s.Cost.USD()), s.Launched, s.Price, s.Removed)
	}
	row("really", &total.Really)
	row("would have", &total.Would)
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	if really := total.Really.Cost.USD(); really > 0 {
		saved := really - total.Would.Cost.USD()
		say(out, "At least %s $ less, %.1f %%.", dollars(saved), 100*saved/really)
	}
	return nil
}

// dollars formats an amount with two decimals, or with four below one dollar: the first
// hour of a small cluster costs no more.
func dollars(usd float64) string {
	if usd < 1 {
		return fmt.Sprintf("%.4f", usd)
	}
	return fmt.Sprintf("%.2f", usd)
}
