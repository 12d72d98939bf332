package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// slice is how long a target runs before the next one gets its turn, so that a run that is
// cut short has tried all of them.
const slice = 2 * time.Minute

// longestTurn is more than any target needs to run the inputs that earlier runs kept.
const longestTurn = 16 * slice

// budget is a run that gives each target an amount of processor time, which counts over
// several runs.
type budget struct {
	// cpu is the processor time that each target gets in all.
	cpu time.Duration
	// first says which targets go before the others.
	first  *regexp.Regexp
	record *record
	// longer are the next turns of targets that need more than slice to begin.
	longer map[target]time.Duration
	// one runs a target for a while.
	one func(ctx context.Context, t target, during time.Duration) (effort, string, error)
}

// run goes round the targets until each has had its time. A target with a finding gets no
// more in this run.
func (b *budget) run(ctx context.Context, all []target, progress io.Writer) error {
	slices.SortStableFunc(all, func(x, y target) int { return b.rank(x) - b.rank(y) })
	b.longer = map[target]time.Duration{}
	var failed []target
	for left := all; len(left) > 0; {
		var next []target
		for _, t := range left {
			missing := b.cpu - b.record.efforts[t.String()].cpu
			if missing < time.Second { // the record knows whole seconds
				continue
			}
			found, err := b.turn(ctx, t, max(min(slice, missing), b.longer[t]), progress)
			if err != nil {
				return err
			}
			if found {
				failed = append(failed, t)
			} else {
				next = append(next, t)
			}
		}
		left = next
	}
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d targets failed, the first: %s", len(failed), len(all), failed[0])
	}
	return nil
}

// turn runs a target for a while, and reports whether it found something. A turn that ended
// before the inputs that earlier runs kept had run again tried nothing: it does not count, and
// the next one is longer.
func (b *budget) turn(ctx context.Context, t target, during time.Duration, progress io.Writer) (found bool, err error) {
	spent, out, err := b.one(ctx, t, during)
	switch {
	case ctx.Err() != nil:
		return false, fmt.Errorf("fuzz %s: %w", t, ctx.Err())
	case err != nil && spent.findings == 0:
		return false, fmt.Errorf("fuzz %s: %w\n%s", t, err, out)
	case err == nil && spent.execs == 0:
		if b.longer[t] = 2 * during; b.longer[t] > longestTurn {
			return false, fmt.Errorf("fuzz %s: %s were not enough to begin\n%s", t, during, out)
		}
		_, err = fmt.Fprintf(progress, "%s: %s for known inputs alone, which do not count\n", t, spent.cpu.Round(time.Second))
		return false, err
	}
	if err := b.record.add(t, spent); err != nil {
		return false, err
	}
	if err != nil {
		_, err = fmt.Fprintf(progress, "%s FAILED\n%s\n", t, out)
		return true, err
	}
	_, err = fmt.Fprintf(progress, "%s: %s more, %d executions\n", t, spent.cpu.Round(time.Second), spent.execs)
	return false, err
}

func (b *budget) rank(t target) int {
	if b.first.MatchString(t.String()) {
		return 0
	}
	return 1
}

// builder keeps the test programs that it has built.
type builder struct {
	source, dir string
	built       map[target]string
}

// program returns the path of a target's test program, which counts coverage.
func (b *builder) program(ctx context.Context, t target) (string, error) {
	if path := b.built[t]; path != "" {
		return path, nil
	}
	path := filepath.Join(b.dir, strconv.Itoa(len(b.built))+".test")
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", path, "-fuzz", "^"+t.name+"$", t.pkg)
	cmd.Dir = b.source
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	b.built[t] = path
	return path, nil
}

// run fuzzes a target with one worker, and says what that took.
func (b *builder) run(ctx context.Context, t target, during time.Duration) (effort, string, error) {
	path, err := b.program(ctx, t)
	if err != nil {
		return effort{}, "", err
	}
	corpus, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return effort{}, "", fmt.Errorf("find the corpus: %w", err)
	}
	cache := filepath.Join(string(corpus[:len(corpus)-1]), "fuzz", filepath.FromSlash(t.pkg))
	cmd := exec.CommandContext(ctx, path, "-test.run", "^$", "-test.fuzz", "^"+t.name+"$", "-test.fuzztime", during.String(),
		"-test.fuzzminimizetime", "10x", "-test.parallel", "1", "-test.fuzzcachedir", cache)
	cmd.Dir, cmd.Env = t.dir, append(os.Environ(), "GOMAXPROCS=1")
	out, err := cmd.CombinedOutput()
	spent := effort{execs: executions(string(out))}
	if s := cmd.ProcessState; s != nil { // it and its worker, for which it has waited
		spent.cpu = s.UserTime() + s.SystemTime()
	}
	err = verdict(string(out), err)
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.Exited() {
		spent.findings = 1
	}
	return spent, string(out), err
}

// executions is the number in the last line of progress, 0 without one.
func executions(out string) int {
	all := regexp.MustCompile(`execs: (\d+)`).FindAllStringSubmatch(out, -1)
	if len(all) == 0 {
		return 0
	}
	n, err := strconv.Atoi(all[len(all)-1][1])
	if err != nil {
		return 0
	}
	return n
}
