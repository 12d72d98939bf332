package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"spokeshave.dev/controller/record/journal"
	"spokeshave.dev/test/kit/harness"
)

// nodes prints the matching machines with their cost, and returns them.
func (d *demo) nodes(ctx context.Context, match func(*harness.Machine) bool) ([]harness.Machine, error) {
	fleet, err := d.Fleet(ctx)
	if err != nil {
		return nil, err
	}
	fleet = slices.DeleteFunc(fleet, func(m harness.Machine) bool { return match != nil && !match(&m) })
	rows := [][]string{{"NODE", "POOL", "TYPE", "ZONE", "CAPACITY", "$/H", "PODS"}}
	for i := range fleet {
		m := &fleet[i]
		rows = append(rows, []string{
			m.Claim, m.Pool, m.Type, m.Zone, m.CapacityType, strconv.FormatFloat(m.Price, 'f', 4, 64), strconv.Itoa(m.Pods),
		})
	}
	d.show(rows)
	d.say("  %d nodes, %.4f $/h", len(fleet), harness.Hourly(fleet))
	return fleet, nil
}

// newMachines returns a function that matches machines that are not in before.
func newMachines(before []harness.Machine) func(*harness.Machine) bool {
	return func(m *harness.Machine) bool {
		return !slices.ContainsFunc(before, func(b harness.Machine) bool { return b.Claim == m.Claim })
	}
}

// why prints why the machines were launched: the decisions, the other options
// considered, and the policies called.
func (d *demo) why(ctx context.Context, fleet []harness.Machine) error {
	decisions, err := d.Decisions(ctx)
	if err != nil {
		return err
	}
	for i := range decisions {
		e := &decisions[i]
		if slices.ContainsFunc(fleet, func(m harness.Machine) bool { return m.Decision == e.ID }) {
			d.say("  decision %s: %d pods, %d nodes, %.1f ms in all, %.1f ms of it packing", e.ID, e.Pods, len(e.Nodes), e.TotalMs, e.SolveMs)
			for _, line := range reasons(e) {
				d.say("    %s", line)
			}
		}
	}
	return nil
}

func reasons(e *journal.Entry) []string {
	var out []string
	for i := range e.Nodes {
		n := &e.Nodes[i]
		next := "no other offering within the tolerance"
		if len(n.Others) > 0 {
			o := n.Others[0]
			next = fmt.Sprintf("next best of %d: %s %s %s at %.4f", len(n.Others), o.InstanceType, o.Zone, o.CapacityType, o.Effective)
		}
		out = append(out, fmt.Sprintf("%s %s %s for %d pods at %s $/h, ranked at %.4f; %s",
			n.Best.InstanceType, n.Best.Zone, n.Best.CapacityType, len(n.Pods), n.Best.Price, n.Best.Effective, next))
		if i == 3 && len(e.Nodes) > 5 {
			out = append(out, fmt.Sprintf("… and %d nodes more", len(e.Nodes)-4))
			break
		}
	}
	var asked []string
	for i := range e.Policies {
		p := &e.Policies[i]
		asked = append(asked, fmt.Sprintf("%s (%s, %s): %d calls", p.Name, p.Hook, p.Engine, p.Calls))
	}
	if len(asked) > 0 {
		out = append(out, "policies asked: "+strings.Join(asked, ", "))
	}
	return out
}

// share returns how many pods the plans put on machines, and how many of those are
// bound there.
func share(fleet []harness.Machine) (asPlanned, planned int) {
	for i := range fleet {
		asPlanned += fleet[i].AsPlanned
		planned += fleet[i].Planned
	}
	return asPlanned, planned
}
