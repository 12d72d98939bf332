// Command digests tells whether a change of the code changes plans. It solves
// seeded scenarios, searches some of them for disruptions, and records of each a
// digest of the plan, its cost, the pods placed and the processor time; later it
// compares. "digests -help" says more.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

const usage = `digests tells whether a change of the code changes plans.

  digests record  [-out FILE]  [-seeds N] [-runs N]
  digests compare [-with FILE] [-seeds N] [-runs N]

record plans the scenarios of the seeds 0 to N-1 (test/kit/random says what they
hold) and writes a line for each: seed, kind, digest of the plan and of the
disruptions found, cost in USD/hour, pods placed and asked for, CPU time in ms.

compare plans those of a file again. It prints the seeds whose digests differ,
with cost, pods placed and CPU time before and after, and the sums by kind. It
ends with exit code 0 when no digest differs, 1 when one does, 2 when it could
not compare.

A digest covers where pods go, the nodes with their labels, requests and options,
and for pods that are left out the codes of the reasons. Their sentences may be
reworded. Cost is that of the nodes there are, as billed, and of the new ones, after rank
policies, less what disruptions save.

  a move or a rename: no digest may differ
      go run -C tools/digests . compare
  a change that is to make other plans: look at the table, put it into the
  commit, and record what holds from then on
      go run -C tools/digests . compare
      go run -C tools/digests . record
  a quick look at the first scenarios of every kind
      go run -C tools/digests . compare -seeds 200

CPU times compare only on one machine: to compare two versions, record with the
old one into a file of your own, and compare with that.

Flags:
`

// errDiffer says that plans are not what they were.
var errDiffer = errors.New("plans differ")

func main() {
	switch err := run(os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errDiffer):
		fmt.Fprintln(os.Stderr, "digests:", err)
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "digests:", err)
		os.Exit(2)
	}
}

func run(args []string, out, progress io.Writer) error {
	command := ""
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		command, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("digests", flag.ContinueOnError)
	flags.SetOutput(progress)
	flags.Usage = func() { fmt.Fprint(progress, usage); flags.PrintDefaults() }
	const file = "testdata/digests.txt"
	to := flags.String("out", file, "record: the file to write")
	from := flags.String("with", file, "compare: the file to compare with")
	seeds := flags.Int("seeds", 2000, "how many scenarios to plan, from seed 0")
	runs := flags.Int("runs", 1, "how often to plan each scenario; the least CPU time counts")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *seeds < 1 || *runs < 1 {
		return fmt.Errorf("unexpected %q, -seeds %d or -runs %d; -help says what there is", flags.Args(), *seeds, *runs)
	}
	m := meter{runs: *runs, progress: progress}
	switch command {
	case "record":
		return record(*to, m.all(*seeds))
	case "compare":
		return compareWith(*from, *seeds, &m, out)
	case "":
		flags.Usage()
		return flag.ErrHelp
	}
	return fmt.Errorf("unknown command %q: record or compare", command)
}
