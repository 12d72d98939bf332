package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"spokeshave.dev/controller/kube/remote"
	"spokeshave.dev/controller/record/explain"
	"spokeshave.dev/controller/record/journal"
	"spokeshave.dev/controller/rehearse/table"
)

const explainHelp = `Explain answers from the decisions of a running controller: why a pod got the node
it got or why it waits, why a node exists and why it is kept, what a NodePool
launched and whom it could not serve.

It reads the journal of the replica that leads, which keeps the last 200 decisions
that did something. It finds that replica by its lease and forwards a port to it
with your own kubeconfig: you must be allowed to get leases and pods, and to create
pods/portforward, in the controller's namespace. With --server it asks there instead.

Exit codes: 0 explained, 2 bad input or no controller, 3 the journal knows nothing of it.`

func explainCommand(ctx context.Context) *cobra.Command {
	var output, namespace string
	var ask asked
	c := &cobra.Command{
		Use:   "explain pod|node|nodeclaim|nodepool NAME",
		Short: "Explain why a pod, node or NodePool is as it is",
		Long:  explainHelp,
		Example: `  spokeshave explain pod shop/web-5d9c7
  spokeshave explain pod web-5d9c7 -n shop
  spokeshave explain node general-1a2b3c4d --server http://127.0.0.1:8083
  spokeshave explain nodepool general -o json | jq '.facts[0].options'`,
		Args: arguments(2, 2),
	}
	outputFlag(c, &output, "table", "json")
	completeFirst(c, "pod", "node", "nodeclaim", "nodepool")
	askFlags(c, &ask, "")
	c.Flags().StringVarP(&namespace, "namespace", "n", "", "namespace of the pod, as kubectl has it (default: that of your context, else default)")
	c.RunE = func(c *cobra.Command, args []string) error {
		about, err := question(args[0], args[1], func() string { return cmp.Or(namespace, remote.Namespace(ask.access)) })
		if err != nil {
			return &exitError{exitBadInput, err}
		}
		var entries []journal.Entry
		if err := ask.get(ctx, "/decisions", &entries); err != nil {
			return &exitError{exitBadInput, err}
		}
		answer := about(entries)
		if output == "json" {
			if err := writeJSON(c.OutOrStdout(), answer); err != nil {
				return err
			}
		} else {
			printAnswer(c.OutOrStdout(), &answer)
		}
		if len(answer.Facts) == 0 {
			return &exitError{exitUnscheduled, fmt.Errorf("none of the %d decisions in the journal is about %s; a replica that does not lead has none%s", len(entries), answer.Subject, hint(args[0]))}
		}
		return nil
	}
	return c
}

// question returns the function that answers from the journal. namespace is called for
// a pod whose name has no namespace.
func question(kind, name string, namespace func() string) (func([]journal.Entry) explain.Answer, error) {
	switch strings.ToLower(kind) {
	case "pod", "pods", "po":
		if !strings.Contains(name, "/") {
			name = namespace() + "/" + name
		}
		return func(e []journal.Entry) explain.Answer { return explain.Pod(e, name) }, nil
	case "node", "nodes", "no", "nodeclaim", "nodeclaims":
		return func(e []journal.Entry) explain.Answer { return explain.Node(e, name) }, nil
	case "nodepool", "nodepools":
		return func(e []journal.Entry) explain.Answer { return explain.Pool(e, name) }, nil
	}
	return nil, fmt.Errorf("explain %s: want pod, node, nodeclaim or nodepool", kind)
}

// hint returns why the journal may know nothing of an existing object.
func hint(kind string) string {
	switch strings.ToLower(kind) {
	case "pod", "pods", "po":
		return ", and the scheduler places pods that find room without one"
	case "node", "nodes", "no":
		return ", and a node that has just joined is known by its NodeClaim's name for some seconds"
	}
	return ""
}

func printAnswer(out io.Writer, a *explain.Answer) {
	for i := range a.Facts {
		f := &a.Facts[i]
		say(out, "%s  decision %s", f.Time.UTC().Format(time.RFC3339), f.Decision)
		say(out, "  %s", f.Says)
		for _, d := range f.Details {
			say(out, "    %s", d)
		}
		if len(f.Policies) > 0 {
			say(out, "    policies asked: %s", strings.Join(f.Policies, ", "))
		}
		if len(f.Options) > 0 {
			w := table.New(out)
			_, _ = fmt.Fprintln(w, "    TYPE\tZONE\tCAPACITY\t$/H\tEFFECTIVE $/H")
			for _, o := range slices.Concat(f.Options, f.OtherTypes) {
				_, _ = fmt.Fprintf(w, "    %s\t%s\t%s\t%s\t%.4f\n", o.InstanceType, o.Zone, o.CapacityType, o.Price, o.Effective)
			}
			_ = w.Flush() // write errors on standard output are ignored
		}
	}
}
