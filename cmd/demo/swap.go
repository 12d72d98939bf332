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

// tasks starts a cluster to try docs/tasks on, as docs/install.md leaves one, and plays the
// kubelet for the chart until it is interrupted.
func tasks(ctx context.Context, dir string) error {
	start := now()
	stack, err := harness.Start(ctx, harness.Options{Dir: dir, Log: os.Stdout})
	if err != nil {
		return err
	}
	if err = stack.Quickstart(ctx); err == nil {
		offer(os.Stdout, stack, now().Sub(start))
		err = stack.PlayKubelet(ctx, os.Stdout)
	}
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, stack.Stop())
}

func offer(w io.Writer, s *harness.Stack, took time.Duration) {
	_, _ = fmt.Fprintf(w, `
A cluster with a NodePool and its EC2NodeClass runs after %s. Follow any page of docs/tasks on it, in
another terminal, in this folder:
%s CHART=charts/spokeshave SPOKESHAVE_SERVER=%s
The controller's log is in %s. Ctrl-C ends everything.

`, took.Round(100*time.Millisecond), variables(s), s.MetricsURL(), filepath.Join(s.Cluster.Dir, "logs"))
}

// variables are the lines for another terminal with which kubectl, helm and spokeshave work
// on the cluster.
func variables(s *harness.Stack) string {
	return fmt.Sprintf("  export KUBECONFIG=%s\n  export PATH=%s:%s:\"$PATH\"", s.Cluster.Kubeconfig, s.CommandLineDir(), s.Cluster.Binaries.Dir)
}

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
		err = stack.PlayKubelet(ctx, os.Stdout)
	}
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, stack.Stop())
}

func invite(w io.Writer, s *harness.Stack, took time.Duration) {
	_, _ = fmt.Fprintf(w, `
A cluster as Karpenter 1.14.1 left it runs after %s. Follow docs/migrate/from-karpenter.md on it, in
another terminal, in this folder; leave out the step with aws:
%s CLUSTER=%s CHART=charts/spokeshave REGISTRY=registry.example
The controller runs while a pod of its Deployment does; its log is in %s.
Ctrl-C ends everything.

`, took.Round(100*time.Millisecond), variables(s), karpenter.ClusterName, filepath.Join(s.Cluster.Dir, "logs"))
}
