// Command demo shows the product on this machine: a real control plane, an
// EC2-compatible endpoint, the chart and the controller, in several scenes. Every scene
// checks its own result.
//
//	demo          run the demo, leave everything running, print how to use it
//	demo -quiet   print little, stop everything; the exit code is the result
//	demo -down    stop what an earlier demo left running
//	demo -karpenter
//	              start a cluster as Karpenter 1.14.1 left it, to try the move from
//	              Karpenter on, and keep it until it is interrupted
//	demo -tasks   start a cluster to follow the pages of docs/tasks on, and keep it until
//	              it is interrupted
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"spokeshave.dev/test/kit/controlplane"
	"spokeshave.dev/test/kit/harness"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	quiet := flag.Bool("quiet", false, "print little, clean up, and fail on any expectation that does not hold")
	down := flag.Bool("down", false, "end what an earlier demo left running")
	left := flag.Bool("karpenter", false, "start a cluster as Karpenter left it, and keep it until it is interrupted")
	pages := flag.Bool("tasks", false, "start a cluster to follow the pages of docs/tasks on, and keep it until it is interrupted")
	flag.Parse()
	err := run(ctx, options{quiet: *quiet, down: *down, karpenter: *left, tasks: *pages})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct{ quiet, down, karpenter, tasks bool }

func run(ctx context.Context, o options) error {
	dir, err := stateDir()
	switch {
	case err != nil:
		return err
	case o.karpenter:
		return swap(ctx, filepath.Join(filepath.Dir(dir), "demo-karpenter"))
	case o.tasks:
		return tasks(ctx, filepath.Join(filepath.Dir(dir), "demo-tasks"))
	case o.down:
		return end(ctx, dir)
	case o.quiet:
		return check(ctx)
	}
	return tell(ctx, dir)
}

func stateDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a state directory: %w", err)
	}
	return filepath.Join(cache, "spokeshave", "demo"), nil
}

func end(ctx context.Context, dir string) error {
	err := controlplane.Down(ctx, dir)
	if errors.Is(err, controlplane.ErrNotRunning) {
		_, _ = fmt.Fprintln(os.Stdout, "no demo is running")
		return nil
	}
	return err
}

// check runs the demo in its own cluster and stops the cluster afterwards.
func check(ctx context.Context) error {
	stack, err := harness.Start(ctx, harness.Options{Log: os.Stdout})
	if err != nil {
		return err
	}
	d := &demo{Stack: stack, out: os.Stdout, quiet: true}
	return errors.Join(d.perform(ctx), stack.Stop())
}

// tell runs the demo and leaves everything running, unless it was interrupted.
func tell(ctx context.Context, dir string) error {
	if err := controlplane.Down(ctx, dir); err != nil && !errors.Is(err, controlplane.ErrNotRunning) {
		return err
	}
	start := now()
	stack, err := harness.Start(ctx, harness.Options{Dir: dir, Detached: true, Log: os.Stdout})
	if err != nil {
		return err
	}
	d := &demo{Stack: stack, out: os.Stdout}
	d.say("everything runs after %s", now().Sub(start).Round(100*time.Millisecond))
	err = d.perform(ctx)
	if ctx.Err() != nil {
		return errors.Join(errors.New("interrupted; everything was ended"), stack.Stop())
	}
	goodbye(os.Stdout, stack)
	return err
}

func goodbye(w io.Writer, s *harness.Stack) {
	_, _ = fmt.Fprintf(w, `
The cluster stays up. To look around:
%s
  kubectl get nodepools,nodeclaims,nodes
  kubectl -n %s scale deployment batch --replicas=40
  spokeshave top
  spokeshave explain nodepool general --server %s     what was decided, and why
  curl -s %s/metrics
  curl -s %s/_sim/state    what EC2 thinks
Logs are in %s. To end it: make demo-down
`, variables(s), namespace, s.MetricsURL(), s.MetricsURL(), s.EC2URL(), filepath.Join(s.Cluster.Dir, "logs"))
}
