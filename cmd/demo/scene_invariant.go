package main

import (
	"context"
	"fmt"
	"time"
)

// invariant checks that EC2, the NodeClaims and the Nodes show the same number of
// machines. A quiet demo then removes the protection and checks that no machine is
// left.
func (d *demo) invariant(ctx context.Context) error {
	if err := d.await(ctx, "EC2 and the cluster agree", 60*time.Second, d.Consistent); err != nil {
		return err
	}
	if err := d.counts(ctx); err != nil {
		return err
	}
	if !d.quiet {
		return nil
	}
	if err := d.protect(ctx, "nobody"); err != nil {
		return err
	}
	return d.await(ctx, "no machine is left", 90*time.Second, func(ctx context.Context) (string, bool) {
		instances, err := d.Instances(ctx)
		if err != nil {
			return err.Error(), false
		}
		state, same := d.Consistent(ctx)
		return state, same && len(instances) == 0
	})
}

func (d *demo) counts(ctx context.Context) error {
	instances, err := d.Instances(ctx)
	if err != nil {
		return err
	}
	fleet, err := d.Fleet(ctx)
	if err != nil {
		return err
	}
	nodes := 0
	for i := range fleet {
		if fleet[i].Node != "" {
			nodes++
		}
	}
	d.show([][]string{
		{"INSTANCES IN EC2", "NODES", "NODECLAIMS"},
		{fmt.Sprint(len(instances)), fmt.Sprint(nodes), fmt.Sprint(len(fleet))},
	})
	d.expect(len(instances) == len(fleet) && nodes == len(fleet), "instances = nodes = NodeClaims")
	return nil
}
