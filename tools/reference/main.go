// Command reference compares our plans with those of Karpenter's own scheduler, on the
// same clusters. "reference -help" says more.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"spokeshave.dev/test/kit/random"
	"spokeshave.dev/tools/reference/contrast"
	"spokeshave.dev/tools/reference/handmade"
	"spokeshave.dev/tools/reference/oracle"
	"spokeshave.dev/tools/reference/raise"
)

const usage = `reference compares our plans and consolidations with those of Karpenter.

  reference [-seeds N] [-clusters N] [-first N] [-handmade=false] [-o table|json]
  reference -f PATH [-f PATH...] [-catalog FILE] [-region NAME] [-time T] [-spot-to-spot] [-o table|json]

The first form plans the scenarios of handmade/scenarios.yaml and of the seeds
(test/kit/random says what they hold; without policies) both ways, consolidates the
clusters of handmade/consolidations.yaml and of the seeds both ways until nothing is
left to do, and names every difference. docs/compatibility.md gives the reason of each
kind. The second form shows what both would remove of one cluster, side by side, from
manifests or a snapshot, as "spokeshave simulate --consolidate" reads them.

The exit code is 0 without a defect here, 1 with one (missed, forbidden, stranded,
kept), 2 when it could not compare.

Flags:
`

// errDefect says that a difference is a defect here.
var errDefect = errors.New("there are differences that are defects here")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errDefect):
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(2)
	}
}

// config is what the flags say.
type config struct {
	seeds, clusters, first int
	handmade               bool
	format                 string
	one                    manifests
}

func parse(args []string, progress io.Writer) (*config, error) {
	flags := flag.NewFlagSet("reference", flag.ContinueOnError)
	flags.SetOutput(progress)
	flags.Usage = func() { fmt.Fprint(progress, usage); flags.PrintDefaults() }
	c := &config{}
	flags.IntVar(&c.seeds, "seeds", 1000, "how many seeded scenarios to plan")
	flags.IntVar(&c.clusters, "clusters", 100, "how many seeded clusters to consolidate")
	flags.IntVar(&c.first, "first", 0, "the first seed")
	flags.BoolVar(&c.handmade, "handmade", true, "also compare what was written by hand")
	flags.StringVar(&c.format, "o", "table", "the output: table or json")
	c.one.flags(flags)
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 || c.seeds < 0 || c.clusters < 0 || c.first < 0 || c.format != "table" && c.format != "json" {
		return nil, fmt.Errorf("unexpected %q or flag; -help says what there is", flags.Args())
	}
	return c, nil
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	c, err := parse(args, progress)
	if err != nil {
		return err
	}
	log.SetLogger(logr.Discard())
	oracle.Register()
	if len(c.one.paths) > 0 {
		return c.one.sideBySide(ctx, out, c.format)
	}
	r := &report{}
	if r.Cases, err = plans(ctx, c, progress); err != nil {
		return err
	}
	if r.Consolidations, err = consolidations(ctx, c, progress); err != nil {
		return err
	}
	return r.write(out, c.format)
}

// plans compares the plans of all scenarios.
func plans(ctx context.Context, c *config, progress io.Writer) ([]*contrast.Result, error) {
	var cases []*contrast.Case
	if c.handmade {
		var err error
		if cases, err = handmade.Cases(); err != nil {
			return nil, err
		}
	}
	var out []*contrast.Result
	said := time.Now()
	for i := range len(cases) + c.seeds {
		var one *contrast.Case
		if i < len(cases) {
			one = cases[i]
		} else {
			one = seeded(uint64(c.first + i - len(cases)))
		}
		r, err := contrast.Run(ctx, one)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
		if time.Since(said) > 10*time.Second {
			said = time.Now()
			fmt.Fprintf(progress, "%d of %d scenarios\n", len(out), len(cases)+c.seeds)
		}
	}
	return out, nil
}

// seeded is the scenario of a seed, without its policies.
func seeded(seed uint64) *contrast.Case {
	sc := random.NewScenario(seed)
	raise.Normalize(sc.Question.Snapshot)
	return &contrast.Case{Name: fmt.Sprintf("seed %d (%s)", seed, sc.Kind), Snapshot: sc.Question.Snapshot, World: raise.World(sc.Question.Snapshot)}
}
