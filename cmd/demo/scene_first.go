package main

import (
	"context"
	"time"

	"spokeshave.dev/test/kit/harness"
)

// firstNodes shows that pending pods get nodes.
func (d *demo) firstNodes(ctx context.Context) error {
	if err := d.Apply(ctx, []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: "+namespace+"}\n")); err != nil {
		return err
	}
	d.say("An EC2NodeClass and two NodePools, as they would stand in a cluster with Karpenter.")
	if err := d.Apply(ctx, pools); err != nil {
		return err
	}
	d.say("Four Deployments, 50 pods with mixed requests. There is no node for them.")
	if err := d.deploy(ctx, shop()...); err != nil {
		return err
	}
	if err := d.await(ctx, "50 pods run", 90*time.Second, d.Running(namespace, nil, 50)); err != nil {
		return err
	}
	if err := d.await(ctx, "nodes initialized", 30*time.Second, d.Consistent); err != nil {
		return err
	}
	fleet, err := d.nodes(ctx, nil)
	if err != nil {
		return err
	}
	if err := d.why(ctx, fleet); err != nil {
		return err
	}
	d.families = harness.Families(fleet)
	asPlanned, planned := share(fleet)
	d.say("  pods bound where the plan put them: %d of %d (%d %%)", asPlanned, planned, 100*asPlanned/max(1, planned))
	// Nodes are reserved for their planned pods for a few seconds only, which can be
	// too short on an overloaded machine.
	d.expect(planned >= 45, "the plans name the pods: %d of 50", planned)
	d.expect(2*asPlanned >= planned, "most pods run where the plan put them")
	d.expect(harness.Hourly(fleet) > 0 && harness.Hourly(fleet) < 2, "the nodes cost %.4f $/h", harness.Hourly(fleet))
	return nil
}
