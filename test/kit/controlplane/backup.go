package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// BackUp copies etcd's data to a folder that does not exist yet. etcd is stopped meanwhile,
// so that the copy is one that it can start from.
func (c *Cluster) BackUp(ctx context.Context, to string) error {
	etcd, err := c.halt(ctx, "etcd")
	if err != nil {
		return fmt.Errorf("back etcd up: %w", err)
	}
	err = os.CopyFS(to, os.DirFS(c.dataDir()))
	if err := errors.Join(err, c.start(layout{dir: c.Dir}, etcd), c.waitForAPI(ctx)); err != nil {
		return fmt.Errorf("back etcd up: %w", err)
	}
	return nil
}

// Restore puts a backup of etcd in the place of its data, as an administrator does after a
// disaster: all programs of the control plane are stopped before, and started after it.
// Those of [Cluster.Run] run on.
func (c *Cluster) Restore(ctx context.Context, from string) error {
	var all []component
	for _, name := range []string{"kwok", "kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd"} {
		if !slices.ContainsFunc(c.processes, func(p *process) bool { return p.Name == name }) {
			continue // a cluster that is not full
		}
		each, err := c.halt(ctx, name)
		if err != nil {
			return fmt.Errorf("restore etcd: %w", err)
		}
		all = append(all, each)
	}
	slices.Reverse(all) // etcd and the API server first
	err := os.RemoveAll(c.dataDir())
	if err == nil {
		err = os.CopyFS(c.dataDir(), os.DirFS(from))
	}
	if err == nil {
		err = c.start(layout{dir: c.Dir}, all[:2]...)
	}
	if err == nil {
		err = errors.Join(c.waitForAPI(ctx), c.start(layout{dir: c.Dir}, all[2:]...))
	}
	if err != nil {
		return fmt.Errorf("restore etcd: %w", err)
	}
	return nil
}

func (c *Cluster) dataDir() string { return filepath.Join(c.Dir, "etcd") }
