package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"spokeshave.dev/controller/record/journal"
	"spokeshave.dev/test/kit/harness"
)

// rankName is the name of the rank policy's ConfigMap.
const rankName = "wasm-rank"

// rankPolicy applies a policy written in Go and grows the workload.
func (d *demo) rankPolicy(ctx context.Context) error {
	before, err := d.Fleet(ctx)
	if err != nil {
		return err
	}
	start := now()
	cm, err := d.Policy(ctx, rankName, "examples/wasm-rank-go", map[string]any{"avoid": d.families, "factor": 3})
	if err != nil {
		return err
	}
	d.say("examples/wasm-rank-go, built with the Go toolchain in %s: %d kB.", now().Sub(start).Round(100*time.Millisecond), len(cm.BinaryData["module.wasm.gz"])/1000)
	d.say("It makes instance families of your choice look three times as dear; here %s.", strings.Join(d.families, ", "))
	d.say("Applied as a ConfigMap; no restart. Then a workload of 20 pods arrives.")
	applied := now()
	if err := d.ApplyPolicy(ctx, cm); err != nil {
		return err
	}
	err = d.await(ctx, "the policy to be active", 20*time.Second, d.policyActive(rankName))
	if err != nil {
		return err
	}
	if err := d.deploy(ctx, batch(20)); err != nil {
		return err
	}
	err = d.await(ctx, "first decision with it", 20*time.Second, d.decided(func(e *journal.Entry) bool { return asked(e, rankName) && len(e.Nodes) > 0 }))
	if err != nil {
		return err
	}
	took := now().Sub(applied)
	if err := d.await(ctx, "20 pods run", 60*time.Second, d.Running(namespace, app("batch"), 20)); err != nil {
		return err
	}
	if err := d.await(ctx, "nodes initialized", 30*time.Second, d.Consistent); err != nil {
		return err
	}
	fleet, err := d.nodes(ctx, newMachines(before))
	if err != nil {
		return err
	}
	if err := d.why(ctx, fleet); err != nil {
		return err
	}
	d.say("  from kubectl apply to the first decision with the policy: %s", took.Round(100*time.Millisecond))
	same := slices.ContainsFunc(harness.Families(fleet), func(f string) bool { return slices.Contains(d.families, f) })
	d.expect(len(fleet) > 0 && !same, "the policy chose other instance families: %v before, %v now", d.families, harness.Families(fleet))
	return nil
}

// asked reports whether a decision called the policy without a fault.
func asked(e *journal.Entry, name string) bool {
	for i := range e.Policies {
		if e.Policies[i].Name == name && e.Policies[i].Calls > 0 && e.Policies[i].Faults == 0 {
			return true
		}
	}
	return false
}

// decided checks that the journal contains a matching decision.
func (d *demo) decided(like func(*journal.Entry) bool) harness.Check {
	return func(ctx context.Context) (string, bool) {
		all, err := d.Decisions(ctx)
		if err != nil {
			return err.Error(), false
		}
		for i := range all {
			if like(&all[i]) {
				return "", true
			}
		}
		return fmt.Sprintf("%d decisions so far, none with the policy", len(all)), false
	}
}
