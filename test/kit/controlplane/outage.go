package controlplane

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Outage stops the API server until wait has returned, and starts it again.
func (c *Cluster) Outage(ctx context.Context, wait func()) error {
	server, err := c.halt(ctx, "kube-apiserver")
	if err != nil {
		return fmt.Errorf("stop the API server: %w", err)
	}
	wait()
	if err := errors.Join(c.start(layout{dir: c.Dir}, server), c.waitForAPI(ctx)); err != nil {
		return fmt.Errorf("start the API server again: %w", err)
	}
	return nil
}

// halt ends a program of the cluster that this process has started, and returns how to
// start it again.
func (c *Cluster) halt(ctx context.Context, name string) (component, error) {
	at := slices.IndexFunc(c.processes, func(p *process) bool { return p.Name == name && p.component.path != "" })
	if at < 0 {
		return component{}, fmt.Errorf("stop %s: %w", name, ErrNotRunning)
	}
	p := c.processes[at]
	if err := p.kill(ctx); err != nil {
		return component{}, err
	}
	c.processes = slices.Delete(c.processes, at, at+1)
	return p.component, nil
}
