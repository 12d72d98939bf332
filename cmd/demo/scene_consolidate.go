package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/harness"
)

const protectName = "protect-research"

// consolidate protects one team's nodes and deletes all workloads.
func (d *demo) consolidate(ctx context.Context) error {
	d.say("Team research gets nodes of its own, and a policy that protects them: policies/keep-protected")
	d.say("with its own config {protected: {team: research}}.")
	if err := d.protect(ctx, "research"); err != nil {
		return err
	}
	if err := d.deploy(ctx, training(6)); err != nil {
		return err
	}
	if err := d.await(ctx, "6 pods run", 60*time.Second, d.Running(namespace, app("training"), 6)); err != nil {
		return err
	}
	if err := d.await(ctx, "nodes initialized", 60*time.Second, d.Consistent); err != nil {
		return err
	}
	before, err := d.Fleet(ctx)
	if err != nil {
		return err
	}
	d.say("Every Deployment is scaled to zero. Nodes may go when they have been empty for 5 s.")
	for _, w := range append(shop(), batch(0), report(0), training(0)) {
		if err := d.Scale(ctx, namespace, w.name, 0); err != nil {
			return err
		}
	}
	if err := d.await(ctx, "only protected nodes are left", 120*time.Second, d.onlyTeam("research")); err != nil {
		return err
	}
	if err := d.Holds(ctx, "the protected nodes stay", 8*time.Second, d.onlyTeam("research")); err != nil {
		return err
	}
	fleet, err := d.nodes(ctx, nil)
	if err != nil {
		return err
	}
	events, err := d.Events(ctx, func(e *corev1.Event) bool {
		return e.InvolvedObject.Kind == "Node" && e.Reason == karpv1.EventDisruptionBlocked
	})
	if err != nil {
		return err
	}
	if len(events) > 0 {
		e := &events[len(events)-1]
		d.say("  event on node %s: %s: %s", e.InvolvedObject.Name, e.Reason, e.Message)
	}
	d.expect(len(events) > 0, "an event says why they stay")
	d.say("  %.4f $/h before, %.4f $/h now", harness.Hourly(before), harness.Hourly(fleet))
	return nil
}

// protect applies the consolidate policy for a team. An empty team protects no node.
func (d *demo) protect(ctx context.Context, team string) error {
	cm, err := d.Policy(ctx, protectName, "policies/keep-protected", map[string]any{"protected": map[string]any{"team": team}})
	if err != nil {
		return err
	}
	if err := d.ApplyPolicy(ctx, cm); err != nil {
		return err
	}
	return d.await(ctx, "the policy to be active", 20*time.Second, d.policyActive(protectName))
}

// onlyTeam checks that at least one machine is left and that all belong to the team.
func (d *demo) onlyTeam(pool string) harness.Check {
	return func(ctx context.Context) (string, bool) {
		fleet, err := d.Fleet(ctx)
		if err != nil {
			return err.Error(), false
		}
		own := 0
		for i := range fleet {
			if fleet[i].Pool == pool && !fleet[i].Deleting {
				own++
			}
		}
		return fmt.Sprintf("%d nodes, %d of them protected", len(fleet), own), own > 0 && own == len(fleet)
	}
}
