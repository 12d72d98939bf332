// Command reference compares our plans with those of Karpenter's own scheduler, on the
// same clusters. "reference -help" says more.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"text/tabwriter"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"spokeshave.dev/test/kit/random"
	"spokeshave.dev/tools/reference/contrast"
	"spokeshave.dev/tools/reference/handmade"
	"spokeshave.dev/tools/reference/oracle"
	"spokeshave.dev/tools/reference/raise"
)

const usage = `reference compares our plans with those of Karpenter's scheduler.

  reference [-seeds N] [-first N] [-handmade=false] [-o table|json]

It plans the scenarios of handmade/scenarios.yaml and of the seeds (test/kit/random says what they hold; without
policies) both ways, and names every difference. docs/compatibility.md gives the
reason of each kind. The exit code is 0 when no pod is missed, 1 when the reference
places pods that we do not, 2 when it could not compare.

Flags:
`

// errMissed says that the reference places more pods.
var errMissed = errors.New("the reference places pods that we do not")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errMissed):
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("reference", flag.ContinueOnError)
	flags.SetOutput(progress)
	flags.Usage = func() { fmt.Fprint(progress, usage); flags.PrintDefaults() }
	seeds := flags.Int("seeds", 1000, "how many seeded scenarios to compare")
	first := flags.Int("first", 0, "the first seed")
	hand := flags.Bool("handmade", true, "also compare the scenarios written by hand")
	format := flags.String("o", "table", "the output: table or json")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *seeds < 0 || *first < 0 || *format != "table" && *format != "json" {
		return fmt.Errorf("unexpected %q or flag; -help says what there is", flags.Args())
	}
	log.SetLogger(logr.Discard())
	oracle.Register()
	cases, err := handmade.Cases()
	if err != nil {
		return err
	}
	if !*hand {
		cases = nil
	}
	var results []*contrast.Result
	said := time.Now()
	for i := range len(cases) + *seeds {
		c := new(contrast.Case)
		if i < len(cases) {
			c = cases[i]
		} else {
			c = seeded(uint64(*first + i - len(cases)))
		}
		r, err := contrast.Run(ctx, c)
		if err != nil {
			return err
		}
		results = append(results, r)
		if time.Since(said) > 10*time.Second {
			said = time.Now()
			fmt.Fprintf(progress, "%d of %d scenarios\n", len(results), len(cases)+*seeds)
		}
	}
	return report(out, *format, results)
}

// seeded is the scenario of a seed, without its policies.
func seeded(seed uint64) *contrast.Case {
	sc := random.NewScenario(seed)
	raise.Normalize(sc.Question.Snapshot)
	return &contrast.Case{Name: fmt.Sprintf("seed %d (%s)", seed, sc.Kind), Snapshot: sc.Question.Snapshot, World: raise.World(sc.Question.Snapshot)}
}

// report writes the results, and the sums by kind of difference.
func report(w io.Writer, format string, results []*contrast.Result) error {
	sums := map[contrast.Kind]int{}
	for _, r := range results {
		for _, d := range r.Differences {
			sums[d.Kind]++
		}
	}
	if format == "json" {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		if err := e.Encode(struct {
			Cases  []*contrast.Result    `json:"cases"`
			Differ map[contrast.Kind]int `json:"differ"`
		}{results, sums}); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	} else if err := table(w, results, sums); err != nil {
		return err
	}
	if sums[contrast.Missed] > 0 {
		return errMissed
	}
	return nil
}

func table(w io.Writer, results []*contrast.Result, sums map[contrast.Kind]int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var ours, theirs contrast.Summary
	asked := 0
	for _, r := range results {
		asked += r.Asked
		addTo(&ours, &r.Ours)
		addTo(&theirs, &r.Theirs)
		for _, d := range r.Differences {
			fmt.Fprintf(t, "%s\t%s\t%s\n", r.Name, d.Kind, d.Detail)
		}
	}
	fmt.Fprintf(t, "\n%d cases, %d pods\tplaced\tnew nodes\tUSD/hour\tpreferences met\n", len(results), asked)
	for _, x := range []struct {
		who string
		s   *contrast.Summary
	}{{"ours", &ours}, {"reference", &theirs}} {
		fmt.Fprintf(t, "%s\t%d\t%d\t%.2f\t%d\n", x.who, x.s.Placed, x.s.Nodes, x.s.USD, x.s.Preferences)
	}
	fmt.Fprintln(t)
	for _, k := range contrast.Kinds() {
		fmt.Fprintf(t, "%s\t%d\n", k, sums[k])
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

func addTo(sum, s *contrast.Summary) {
	sum.Placed, sum.Nodes, sum.USD, sum.Preferences = sum.Placed+s.Placed, sum.Nodes+s.Nodes, sum.USD+s.USD, sum.Preferences+s.Preferences
}
