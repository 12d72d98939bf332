package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/harness"
)

const (
	budgetName = "hourly-budget"
	// cap1 stops the next scale-up, cap2 does not; both in $/h.
	cap1, cap2 = "2", "20"
	limit      = 2.0
	// reports is the number of pods that do not fit under the cap.
	reports = 100
)

// budget applies a ceiling, exceeds it and raises it.
func (d *demo) budget(ctx context.Context) error {
	d.say("examples/rego-budget: at most %s $/h for the whole cluster. Then come %d pods that want on-demand capacity.", cap1, reports)
	if err := d.setCap(ctx, cap1); err != nil {
		return err
	}
	if err := d.deploy(ctx, report(reports)); err != nil {
		return err
	}
	var refusal corev1.Event
	if err := d.await(ctx, "pods to be refused", 60*time.Second, d.refused(&refusal)); err != nil {
		return err
	}
	if err := d.await(ctx, "nodes initialized", 60*time.Second, d.Consistent); err != nil {
		return err
	}
	stays := func(ctx context.Context) (string, bool) {
		fleet, err := d.Fleet(ctx)
		return fmt.Sprintf("%.4f $/h", harness.Hourly(fleet)), err == nil && harness.Hourly(fleet) <= limit
	}
	if err := d.Holds(ctx, "the spend stays under the cap", 5*time.Second, stays); err != nil {
		return err
	}
	fleet, err := d.Fleet(ctx)
	if err != nil {
		return err
	}
	waiting, err := d.waiting(ctx)
	if err != nil {
		return err
	}
	d.say("  %d nodes, %.4f $/h; %d pods wait. The event on %s:", len(fleet), harness.Hourly(fleet), waiting, refusal.InvolvedObject.Name)
	d.say("    %s %s: %s", refusal.Type, refusal.Reason, refusal.Message)
	d.expect(harness.Hourly(fleet) <= limit, "the spend stays under the cap: %.4f of %.2f $/h", harness.Hourly(fleet), limit)
	d.expect(waiting > 0, "pods wait for headroom: %d", waiting)
	d.expect(strings.Contains(refusal.Message, budgetName) && strings.Contains(refusal.Message, "$/h"),
		"the event names the policy and the headroom")
	d.say("The cap is raised to %s $/h.", cap2)
	if err := d.setCap(ctx, cap2); err != nil {
		return err
	}
	if err := d.await(ctx, fmt.Sprintf("%d pods run", reports), 90*time.Second, d.Running(namespace, app("report"), reports)); err != nil {
		return err
	}
	if err := d.await(ctx, "nodes initialized", 60*time.Second, d.Consistent); err != nil {
		return err
	}
	if fleet, err = d.Fleet(ctx); err != nil {
		return err
	}
	asPlanned, planned := share(fleet)
	d.say("  %d nodes, %.4f $/h; of all pods so far %d of %d bound as planned", len(fleet), harness.Hourly(fleet), asPlanned, planned)
	return nil
}

// setCap applies the budget with a cap on the cluster and waits until it is in
// force.
func (d *demo) setCap(ctx context.Context, usd string) error {
	manifest, err := d.Source("examples/rego-budget/configmap.yaml")
	if err != nil {
		return err
	}
	if err := d.Apply(ctx, bytes.ReplaceAll(manifest, []byte("hourly_usd: "+cap1+"\n"), []byte("hourly_usd: "+usd+"\n"))); err != nil {
		return err
	}
	return d.await(ctx, "the budget to be active", 20*time.Second, d.policyActive(budgetName))
}

// refused checks that an event on some pod says that the budget leaves no room, and
// returns that event.
func (d *demo) refused(into *corev1.Event) harness.Check {
	return func(ctx context.Context) (string, bool) {
		events, err := d.Events(ctx, func(e *corev1.Event) bool {
			return e.InvolvedObject.Kind == "Pod" && e.Reason == karpv1.EventFailedScheduling && strings.Contains(e.Message, budgetName)
		})
		if err != nil {
			return err.Error(), false
		}
		if len(events) == 0 {
			return "no event about the budget yet", false
		}
		*into = events[len(events)-1]
		return "", true
	}
}

// waiting counts the pods without a node.
func (d *demo) waiting(ctx context.Context) (int, error) {
	pods, err := d.Pods(ctx, namespace, nil)
	n := 0
	for i := range pods {
		if pods[i].Spec.NodeName == "" {
			n++
		}
	}
	return n, err
}

// policyActive checks in the status object that the policy is active.
func (d *demo) policyActive(name string) harness.Check {
	return func(ctx context.Context) (string, bool) {
		text, err := d.PolicyStatus(ctx, name)
		if err != nil {
			return err.Error(), false
		}
		return "status: " + cmp.Or(text, "none yet"), strings.Contains(text, "Active")
	}
}
