package author

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/rehearse/scenario"
	"spokeshave.dev/controller/rehearse/simulate"
)

// Difference is how the decision changes when another version of a policy makes it.
// Prices are USD per hour.
type Difference struct {
	Old Outcome `json:"old"`
	New Outcome `json:"new"`
	// Nodes are the kinds of nodes of which a different number is launched.
	Nodes []NodeChange `json:"nodes"`
	// Removed are running nodes that only the new version removes; Kept are those that
	// only the old version removes.
	Removed []NodeFate `json:"removed"`
	Kept    []NodeFate `json:"kept"`
	// Waiting are pods that only the old version places; Placed are those that only the
	// new version places.
	Waiting []PodChange `json:"waiting"`
	Placed  []PodChange `json:"placed"`
}

// Outcome summarizes a decision.
type Outcome struct {
	HourlyCost  float64 `json:"hourlyCost"`
	Nodes       int     `json:"nodes"`
	Unscheduled int     `json:"unscheduled"`
	// Removed is the number of running nodes that are removed, Savings what that saves
	// per hour.
	Removed int     `json:"removed"`
	Savings float64 `json:"savings"`
	Fault   string  `json:"fault,omitempty"`
}

// NodeChange is a kind of node.
type NodeChange struct {
	NodePool     string  `json:"nodePool"`
	InstanceType string  `json:"instanceType"`
	Zone         string  `json:"zone"`
	CapacityType string  `json:"capacityType"`
	Price        float64 `json:"price"`
	Old          int     `json:"old"`
	New          int     `json:"new"`
}

// NodeFate is a running node, with the reason of the decision that keeps it.
type NodeFate struct {
	Node   string `json:"node"`
	Method string `json:"method"`
	Policy string `json:"policy,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// PodChange is a pod, with the reasons of the decision that does not place it.
type PodChange struct {
	Pod    string   `json:"pod"`
	Reason []string `json:"reason"`
}

// Same reports whether nothing changes.
func (d *Difference) Same() bool {
	return len(d.Nodes)+len(d.Waiting)+len(d.Placed)+len(d.Removed)+len(d.Kept) == 0 && d.Old == d.New
}

// Diff makes the decision of a scenario with each of two versions of a policy. It
// replaces cfg.Compiled.
func Diff(ctx context.Context, before, after *Source, cfg simulate.Config) (*Difference, error) {
	one, err := before.decide(ctx, cfg)
	if err != nil {
		return nil, err
	}
	two, err := after.decide(ctx, cfg)
	if err != nil {
		return nil, err
	}
	d := &Difference{
		Old: outcome(one, before), New: outcome(two, after), Nodes: nodeChanges(one, two),
		Waiting: newlyWaiting(one, two), Placed: newlyWaiting(two, one),
		Removed: newlyRemoved(one, two), Kept: newlyRemoved(two, one),
	}
	return d, nil
}

func (s *Source) decide(ctx context.Context, cfg simulate.Config) (r *scenario.Report, err error) {
	p, err := s.Compile(ctx, json.RawMessage(nil))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.At, err)
	}
	defer func() { err = errors.Join(err, p.Close(ctx)) }()
	info := p.Info()
	cfg.Compiled, cfg.Disrupt = []policy.Policy{p}, info.Answers(policy.HookConsolidate)
	result, err := simulate.Run(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return result.Report, nil
}

func outcome(r *scenario.Report, s *Source) Outcome {
	out := Outcome{HourlyCost: r.HourlyCost, Nodes: len(r.Nodes), Unscheduled: len(r.Unscheduled), Savings: r.Savings}
	for i := range r.Disruptions {
		if r.Disruptions[i].Goes {
			out.Removed++
		}
	}
	for _, u := range r.Policies {
		if u.Name == s.Name() && u.Fault != "" {
			out.Fault = u.Fault
		}
	}
	return out
}

func nodeChanges(one, two *scenario.Report) []NodeChange {
	count := map[string]*NodeChange{}
	at := func(n *scenario.ReportNode) *NodeChange {
		key := n.NodePool + " " + n.InstanceType + " " + n.Zone + " " + string(n.CapacityType)
		if count[key] == nil {
			count[key] = &NodeChange{
				NodePool: n.NodePool, InstanceType: n.InstanceType, Zone: n.Zone, CapacityType: string(n.CapacityType), Price: n.Price,
			}
		}
		return count[key]
	}
	for _, launched := range [][]scenario.ReportNode{one.Nodes, one.Replacements} {
		for i := range launched {
			at(&launched[i]).Old++
		}
	}
	for _, launched := range [][]scenario.ReportNode{two.Nodes, two.Replacements} {
		for i := range launched {
			at(&launched[i]).New++
		}
	}
	out := []NodeChange{}
	for _, key := range slices.Sorted(maps.Keys(count)) {
		if c := count[key]; c.Old != c.New {
			out = append(out, *c)
		}
	}
	return out
}

// newlyRemoved returns the running nodes that two removes and one keeps, with the
// reasons of one.
func newlyRemoved(one, two *scenario.Report) []NodeFate {
	stays := map[string]*scenario.ReportDisruption{}
	for i := range one.Disruptions {
		stays[one.Disruptions[i].Node] = &one.Disruptions[i]
	}
	out := []NodeFate{}
	for i := range two.Disruptions {
		d := &two.Disruptions[i]
		was := stays[d.Node]
		if !d.Goes || was != nil && was.Goes {
			continue
		}
		fate := NodeFate{Node: d.Node, Method: d.Method}
		if was != nil {
			fate.Policy, fate.Reason = was.Policy, was.Reason
		}
		out = append(out, fate)
	}
	return out
}

// newlyWaiting returns the pods that wait in two and not in one.
func newlyWaiting(one, two *scenario.Report) []PodChange {
	waited := map[string]bool{}
	for _, u := range one.Unscheduled {
		waited[u.Pod] = true
	}
	out := []PodChange{}
	for _, u := range two.Unscheduled {
		if waited[u.Pod] {
			continue
		}
		change := PodChange{Pod: u.Pod, Reason: []string{}}
		for _, reason := range u.Reasons {
			change.Reason = append(change.Reason, reason.Message)
		}
		out = append(out, change)
	}
	return out
}
