package oracle

import (
	"context"
	"fmt"
	"slices"
	"strings"

	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	requirements "sigs.k8s.io/karpenter/pkg/scheduling"
)

// Answer is what Karpenter's scheduler decides. Pods are named namespace/name.
type Answer struct {
	Nodes    []Node              `json:"nodes,omitempty"`
	Existing map[string][]string `json:"existing,omitempty"`
	// Unplaced says of each pod without a place why.
	Unplaced map[string]string `json:"unplaced,omitempty"`
}

// Node is a NodeClaim that Karpenter would create.
type Node struct {
	Pool string   `json:"pool"`
	Pods []string `json:"pods"`
	// Labels are those of the NodeClaim.
	Labels map[string]string `json:"labels,omitempty"`
	// Options are the ways to launch it, cheapest first.
	Options []Option `json:"options"`
}

// Option is an instance type in a zone, bought one way.
type Option struct {
	Type, Zone, CapacityType string
	USD                      float64
}

// Schedule runs the scheduler on the pending pods and those of nodes that are being
// deleted.
func Schedule(ctx context.Context, w *World) (*Answer, error) {
	ctx = withOptions(ctx, &w.Settings)
	c, err := load(ctx, w)
	if err != nil {
		return nil, err
	}
	results, err := c.provisioner.Schedule(ctx)
	if err != nil {
		return nil, fmt.Errorf("schedule: %w", err)
	}
	return answer(&results), nil
}

func answer(r *scheduling.Results) *Answer {
	out := &Answer{Existing: map[string][]string{}, Unplaced: map[string]string{}}
	for _, n := range r.ExistingNodes {
		for _, p := range n.Pods {
			out.Existing[n.Name()] = append(out.Existing[n.Name()], p.Namespace+"/"+p.Name)
		}
	}
	for _, n := range r.NewNodeClaims {
		claim := Node{Pool: n.NodePoolName, Labels: n.ToNodeClaim().Labels, Options: offers(n)}
		for _, p := range n.Pods {
			claim.Pods = append(claim.Pods, p.Namespace+"/"+p.Name)
		}
		out.Nodes = append(out.Nodes, claim)
	}
	for p, err := range r.PodErrors {
		out.Unplaced[p.Namespace+"/"+p.Name] = err.Error()
	}
	return out
}

// offers are the offerings that the claim admits.
func offers(n *scheduling.NodeClaim) []Option {
	var out []Option
	for _, t := range n.InstanceTypeOptions {
		for _, o := range t.Offerings {
			if o.Available && admits(n.Requirements, o) {
				out = append(out, Option{Type: t.Name, Zone: o.Zone(), CapacityType: o.CapacityType(), USD: o.Price})
			}
		}
	}
	slices.SortFunc(out, func(a, b Option) int {
		switch {
		case a.USD < b.USD:
			return -1
		case a.USD > b.USD:
			return 1
		}
		return strings.Compare(a.Type+a.Zone+a.CapacityType, b.Type+b.Zone+b.CapacityType)
	})
	return out
}

func admits(r requirements.Requirements, o *cloudprovider.Offering) bool {
	return r.IsCompatible(o.Requirements, requirements.AllowUndefinedWellKnownLabels) && o.Requirements.Has(karpv1.CapacityTypeLabelKey)
}
