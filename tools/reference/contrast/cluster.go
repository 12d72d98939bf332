package contrast

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/tools/reference/raise"
)

// change is one round of consolidation as it comes true: nodes go, nodes come, and pods
// move.
type change struct {
	gone     []int32
	launched []model.PlannedNode
	existing []model.Assignment
}

func (c *change) nothing() bool { return len(c.gone) == 0 }

// apply is the cluster after the change. New nodes run as their first option, and have run
// for an hour. Pods of nodes that go are where the change puts them, and without a node
// where it puts them nowhere; those of DaemonSets go with their node.
func (c *change) apply(s *model.Snapshot, round int) *model.Snapshot {
	out := *s
	out.Nodes, out.Pods = nil, nil
	at := make([]int32, len(s.Nodes))
	for i := range s.Nodes {
		at[i] = -1
		if !slices.Contains(c.gone, int32(i)) {
			at[i] = int32(len(out.Nodes))
			out.Nodes = append(out.Nodes, s.Nodes[i])
		}
	}
	to := map[int32]int32{}
	for i := range c.existing {
		for _, pod := range c.existing[i].Pods {
			to[pod] = at[c.existing[i].Node]
		}
	}
	for i := range c.launched {
		for _, pod := range c.launched[i].Pods {
			to[pod] = int32(len(out.Nodes))
		}
		out.Nodes = append(out.Nodes, started(s, &c.launched[i], fmt.Sprintf("new-%d-%d", round, i)))
	}
	for i := range s.Pods {
		p := s.Pods[i]
		node, moves := to[int32(i)]
		switch {
		case moves:
			p.Node = node
		case p.Node >= 0 && at[p.Node] < 0 && p.Daemon:
			continue
		case p.Node >= 0:
			p.Node = at[p.Node]
		}
		out.Pods = append(out.Pods, p)
	}
	out.Pools = slices.Clone(s.Pools)
	for i := range out.Pools {
		out.Pools[i].Usage = raise.Usage(&out, int32(i))
	}
	return &out
}

// started is a planned node as it runs.
func started(s *model.Snapshot, n *model.PlannedNode, name string) model.Node {
	pool, o := &s.Pools[n.Pool], &n.Options[0]
	v := view{s: s, plan: &model.Plan{Nodes: []model.PlannedNode{*n}}}
	labels := v.labelsOf(0)
	labels[hostname] = name
	out := model.Node{
		Name: name, Claim: name, Pool: n.Pool, State: model.Initialized, InstanceType: o.InstanceType, Zone: o.Zone, CapacityType: o.CapacityType,
		Price: o.Price, Extra: s.NodeCost(n.Pool), Labels: labels, Taints: pool.Taints,
		LaunchedAt: s.Time.Add(-time.Hour), LastPodEvent: s.Time.Add(-time.Hour),
	}
	if t := raise.TypeOf(s, pool.Catalog, o.InstanceType); t != nil {
		out.Allocatable = maps.Clone(t.Allocatable)
	}
	return out
}

// cost is the hourly price of all nodes.
func cost(s *model.Snapshot) model.Price {
	var out model.Price
	for i := range s.Nodes {
		out += s.Nodes[i].Cost()
	}
	return out
}
