package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"spokeshave.dev/controller/explain"
	"spokeshave.dev/controller/journal"
)

const explainHelp = `Explain answers from the decisions of a running controller: why a pod got the node
it got or why it waits, why a node exists and why it is kept, what a NodePool
launched and whom it could not serve.

It reads the journal of the leader, which keeps the last 200 decisions that did
something. Make it reachable first, for instance:

  kubectl --namespace spokeshave port-forward POD 8080

where POD is the replica that holds the lease (kubectl --namespace spokeshave get lease).

Exit codes: 0 explained, 2 bad input or no controller, 3 the journal knows nothing of it.`

// journalLimit bounds what is read of a journal: 200 decisions of thousands of
// pods each.
const journalLimit = 256 << 20

func explainCommand(ctx context.Context) *cobra.Command {
	var server, output string
	c := &cobra.Command{
		Use:   "explain pod|node|nodeclaim|nodepool NAME",
		Short: "Explain why a pod, node or NodePool is as it is",
		Long:  explainHelp,
		Example: `  spokeshave explain pod shop/web-5d9c7
  spokeshave explain node general-1a2b3c4d --server http://127.0.0.1:8080
  spokeshave explain nodepool general -o json | jq '.facts[0].options'`,
		Args: cobra.ExactArgs(2),
	}
	outputFlag(c, &output, "table", "json")
	c.Flags().StringVar(&server, "server", "http://127.0.0.1:8080", "where the controller's metrics port can be reached")
	c.RunE = func(c *cobra.Command, args []string) error {
		ask, err := question(args[0], args[1])
		if err != nil {
			return &exitError{exitBadInput, err}
		}
		entries, err := decisions(ctx, server)
		if err != nil {
			return &exitError{exitBadInput, err}
		}
		answer := ask(entries)
		if output == "json" {
			if err := writeJSON(c.OutOrStdout(), answer); err != nil {
				return err
			}
		} else {
			printAnswer(c.OutOrStdout(), &answer)
		}
		if len(answer.Facts) == 0 {
			return &exitError{exitUnscheduled, fmt.Errorf("none of the %d decisions in the journal is about %s; a replica that does not lead has none", len(entries), answer.Subject)}
		}
		return nil
	}
	return c
}

func question(kind, name string) (func([]journal.Entry) explain.Answer, error) {
	switch strings.ToLower(kind) {
	case "pod", "pods", "po":
		if !strings.Contains(name, "/") {
			name = "default/" + name
		}
		return func(e []journal.Entry) explain.Answer { return explain.Pod(e, name) }, nil
	case "node", "nodes", "no", "nodeclaim", "nodeclaims":
		return func(e []journal.Entry) explain.Answer { return explain.Node(e, name) }, nil
	case "nodepool", "nodepools":
		return func(e []journal.Entry) explain.Answer { return explain.Pool(e, name) }, nil
	}
	return nil, fmt.Errorf("explain %s: want pod, node, nodeclaim or nodepool", kind)
}

func decisions(ctx context.Context, server string) ([]journal.Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(server, "/")+"/decisions", nil)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", server, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the controller; forward its metrics port first, see --help: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask %s for decisions: %s", server, resp.Status)
	}
	var out []journal.Entry
	if err := json.NewDecoder(io.LimitReader(resp.Body, journalLimit)).Decode(&out); err != nil {
		return nil, fmt.Errorf("read the decisions of %s: %w", server, err)
	}
	return out, nil
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
			w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
			_, _ = fmt.Fprintln(w, "    TYPE\tZONE\tCAPACITY\t$/H\tEFFECTIVE $/H")
			for _, o := range f.Options {
				_, _ = fmt.Fprintf(w, "    %s\t%s\t%s\t%s\t%.4f\n", o.InstanceType, o.Zone, o.CapacityType, o.Price, o.Effective)
			}
			_ = w.Flush() // nowhere to report that a terminal is gone
		}
	}
}
