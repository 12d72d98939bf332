package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"spokeshave.dev/test/kit/harness"
	"spokeshave.dev/test/kit/karpenter"
)

// every is how often the controller's process is brought in line with its Deployment.
const every = 200 * time.Millisecond

// swap starts a cluster as Karpenter left it and plays the kubelet for the chart, which the
// user installs, until it is interrupted.
func swap(ctx context.Context, dir string) error {
	start := now()
	stack, err := harness.Start(ctx, harness.Options{
		Dir: dir, Cluster: karpenter.ClusterName, Bare: true, WithoutCA: true, BootDelay: 5 * time.Second, Log: os.Stdout,
	})
	if err != nil {
		return err
	}
	err = errors.Join(karpenter.Install(ctx, stack), karpenter.Restore(ctx, stack))
	if err == nil {
		invite(os.Stdout, stack, now().Sub(start))
		err = play(ctx, os.Stdout, stack)
	}
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, stack.Stop())
}

// play runs the controller as deployed until the context ends. What fails is told and
// tried again.
func play(ctx context.Context, w io.Writer, stack *harness.Stack) error {
	ticks := time.NewTicker(every) //nolint:forbidigo // a demo lives on the wall clock
	defer ticks.Stop()
	ran, told := false, ""
	for {
		runs, err := stack.AsDeployed(ctx)
		if text := fmt.Sprint(err); err != nil && text != told && ctx.Err() == nil {
			_, _ = fmt.Fprintln(w, "controller:", err)
			told = text
		}
		if runs != ran {
			_, _ = fmt.Fprintf(w, "%s  controller %s\n", now().Format(time.TimeOnly), map[bool]string{true: "started", false: "ended"}[runs])
			ran = runs
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticks.C:
		}
	}
}

func invite(w io.Writer, s *harness.Stack, took time.Duration) {
	_, _ = fmt.Fprintf(w, `
A cluster as Karpenter 1.14.1 left it runs after %s. Follow docs/migrate/from-karpenter.md on it, in
another terminal, in this folder; leave out the step with aws:
  export KUBECONFIG=%s
  export PATH=%s:"$PATH" CLUSTER=%s CHART=charts/spokeshave REGISTRY=registry.example
The controller runs while a pod of its Deployment does; its log is in %s.
Ctrl-C ends everything.

`, took.Round(100*time.Millisecond), s.Cluster.Kubeconfig, s.Cluster.Binaries.Dir, karpenter.ClusterName, filepath.Join(s.Cluster.Dir, "logs"))
}
