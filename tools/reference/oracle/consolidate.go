package oracle

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
)

// Round is what Karpenter does in one round of consolidation: the first of its methods
// that finds something, in its order.
type Round struct {
	// Method is empty, multi or single; "" when no method finds anything.
	Method string
	// Removed are the names of the nodes.
	Removed []string
	// Launched are their replacements, and Existing the pods that move to nodes that run
	// already, by the nodes' names.
	Launched []Node
	Existing map[string][]string
	// Kept says of nodes why they were not removed, as Karpenter's events would.
	Kept map[string]string
}

// Eligible are the nodes that Karpenter's rules let go, before it looks for savings.
type Eligible struct {
	// Empty and Underutilized are the names of nodes by method.
	Empty, Underutilized []string
	// AllowedEmpty and AllowedUnderutilized are how many of them the budgets let go,
	// by NodePool.
	AllowedEmpty, AllowedUnderutilized map[string]int
}

// asFound takes a command for valid: nothing changes between its computation and its
// validation here.
type asFound struct{}

// Validate implements disruption.Validator.
func (asFound) Validate(_ context.Context, c disruption.Command, _ time.Duration) (disruption.Command, error) {
	return c, nil
}

// methods are Karpenter's methods of consolidation, in its order.
func (c *cluster) methods() ([]disruption.Method, *disruption.Queue) {
	queue := disruption.NewQueue(c.client, &c.notes, c.state, c.clock, c.provisioner)
	with := disruption.MakeConsolidation(c.clock, c.state, c.client, c.provisioner, c.cloud, &c.notes, queue)
	return []disruption.Method{
		disruption.NewEmptiness(with, disruption.WithValidator(asFound{})),
		disruption.NewMultiNodeConsolidation(with, disruption.WithValidator(asFound{})),
		disruption.NewSingleNodeConsolidation(with, disruption.WithValidator(asFound{})),
	}, queue
}

// candidates are the nodes that a method may remove, and how many of each NodePool.
func (c *cluster) candidates(ctx context.Context, m disruption.Method, queue *disruption.Queue) ([]*disruption.Candidate, map[string]int, error) {
	found, totals, err := disruption.GetCandidatesWithTotals(ctx, c.state, c.client, &c.notes, c.clock, c.cloud, m.ShouldDisrupt, m.Class(), queue, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("candidates: %w", err)
	}
	if setter, ok := m.(disruption.NodePoolTotalsSetter); ok {
		setter.SetNodePoolTotals(totals)
	}
	budgets, err := disruption.BuildDisruptionBudgetMapping(ctx, c.state, c.clock, c.client, c.cloud, &c.notes, m.Reason())
	if err != nil {
		return nil, nil, fmt.Errorf("budgets: %w", err)
	}
	return found, budgets, nil
}

// Consolidate runs one round of Karpenter's consolidation.
func Consolidate(ctx context.Context, w *World) (*Round, error) {
	ctx = withOptions(ctx, &w.Settings)
	c, err := load(ctx, w)
	if err != nil {
		return nil, err
	}
	methods, queue := c.methods()
	for _, m := range methods {
		found, budgets, err := c.candidates(ctx, m, queue)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			continue
		}
		commands, err := m.ComputeCommands(ctx, budgets, found...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.ConsolidationType(), err)
		}
		for i := range commands {
			if commands[i].Decision() != disruption.NoOpDecision {
				out := round(m, &commands[i])
				out.Kept = c.notes.kept
				return out, nil
			}
		}
	}
	return &Round{Kept: c.notes.kept}, nil
}

func round(m disruption.Method, c *disruption.Command) *Round {
	out := &Round{Method: m.ConsolidationType(), Removed: c.SourceNodeNames(), Existing: map[string][]string{}}
	slices.Sort(out.Removed)
	for _, r := range c.Replacements {
		n := Node{Pool: r.NodePoolName, Labels: r.ToNodeClaim().Labels, Options: offers(r.NodeClaim)}
		for _, p := range r.Pods {
			n.Pods = append(n.Pods, p.Namespace+"/"+p.Name)
		}
		out.Launched = append(out.Launched, n)
	}
	for _, n := range c.Results.ExistingNodes {
		for _, p := range n.Pods {
			out.Existing[n.Name()] = append(out.Existing[n.Name()], p.Namespace+"/"+p.Name)
		}
	}
	return out
}

// MayGo says which nodes Karpenter's rules let go.
func MayGo(ctx context.Context, w *World) (*Eligible, error) {
	ctx = withOptions(ctx, &w.Settings)
	c, err := load(ctx, w)
	if err != nil {
		return nil, err
	}
	methods, queue := c.methods()
	names := func(m disruption.Method) (out []string, budgets map[string]int, err error) {
		found, budgets, err := c.candidates(ctx, m, queue)
		for _, n := range found {
			out = append(out, n.Name())
		}
		return out, budgets, err
	}
	out := &Eligible{}
	if out.Empty, out.AllowedEmpty, err = names(methods[0]); err != nil {
		return nil, err
	}
	if out.Underutilized, out.AllowedUnderutilized, err = names(methods[2]); err != nil {
		return nil, err
	}
	return out, nil
}
