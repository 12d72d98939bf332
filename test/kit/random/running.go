package random

import (
	"fmt"
	"maps"
	"time"

	"spokeshave.dev/controller/core/model"
)

// settle replaces the nodes by ready ones of which some run pods of the question,
// as far as these fit.
func (g *Generator) settle(q *Question) {
	g.unbind()
	for i := range 1 + g.IntN(12) {
		n := g.ready(i, int32(g.IntN(len(g.Snapshot.Pools))))
		if g.Chance(0.3) {
			n.State, n.Pool, n.Claim = model.Unmanaged, -1, ""
		}
		g.Snapshot.Nodes = append(g.Snapshot.Nodes, n)
	}
	g.fill(q, 0.4)
}

// run replaces the nodes by ready ones of the pools, which run most of the pods
// and have room to spare, so that some of the nodes are worth removing.
func (g *Generator) run(q *Question) {
	g.unbind()
	g.Snapshot.Time = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	g.Snapshot.Seed = g.Uint64()
	for i := range g.Snapshot.Pools {
		p := &g.Snapshot.Pools[i]
		p.Disruption = model.Disruption{
			Policy: Pick(g, "WhenEmptyOrUnderutilized", "WhenEmptyOrUnderutilized", "Balanced"), AllowedEmpty: 1 + g.IntN(10),
			AllowedUnderutilized: 1 + g.IntN(10), AllowedDrifted: g.IntN(3),
		}
	}
	for i := range 2 + len(q.Pods)/Pick(g, 3, 6, 12) {
		n := g.ready(i, int32(g.IntN(len(g.Snapshot.Pools))))
		n.LaunchedAt = g.Snapshot.Time.Add(-time.Duration(1+g.IntN(100)) * time.Hour)
		n.LastPodEvent = g.Snapshot.Time.Add(-time.Hour)
		g.Snapshot.Nodes = append(g.Snapshot.Nodes, n)
	}
	g.fill(q, 0.9)
}

// unbind takes away all nodes, and makes pods of DaemonSets pods like others.
func (g *Generator) unbind() {
	g.Snapshot.Nodes = nil
	for i := range g.Snapshot.Pods {
		g.Snapshot.Pods[i].Node, g.Snapshot.Pods[i].Daemon = -1, false
	}
}

// ready is an initialized node of a pool, with the labels and taints that it gives
// its nodes.
func (g *Generator) ready(i int, pool int32) model.Node {
	p := &g.Snapshot.Pools[pool]
	types := g.Snapshot.Catalogs[p.Catalog].Types
	t := &types[g.IntN(len(types))]
	for range 2 { // small ones are more common
		if other := &types[g.IntN(len(types))]; other.Capacity[model.CPU] < t.Capacity[model.CPU] {
			t = other
		}
	}
	o := &t.Offerings[g.IntN(len(t.Offerings))]
	n := model.Node{
		Name: fmt.Sprint("node-", i), Claim: fmt.Sprint("claim-", i), Pool: pool, State: model.Initialized,
		InstanceType: t.Name, Zone: o.Zone, CapacityType: o.CapacityType, Price: o.Price, Extra: g.Snapshot.NodeCost(pool),
		Allocatable: t.Allocatable.Clone(), Taints: p.Taints, Labels: maps.Clone(t.Labels),
	}
	maps.Copy(n.Labels, p.NodeLabels)
	n.Labels[labelZone], n.Labels[labelZoneID], n.Labels[labelHostname] = o.Zone, o.ZoneID, n.Name
	n.Labels[labelCapacityType], n.Labels[labelPool] = string(o.CapacityType), p.Name
	return n
}

// fill binds the share of the pods to nodes that have the resources for them and
// whose taints they tolerate; the others are asked for. Selectors and topology do
// not count, as those of pods that run may have changed since.
func (g *Generator) fill(q *Question, share float64) {
	free := make([]model.Resources, len(g.Snapshot.Nodes))
	for i := range free {
		free[i] = g.Snapshot.Nodes[i].Allocatable.Clone()
	}
	q.Pods = nil
	for i := range g.Snapshot.Pods {
		p := &g.Snapshot.Pods[i]
		s := &g.Snapshot.Specs[p.Spec]
		if g.Chance(share) {
			for range 4 { // as many nodes are tried
				at := g.IntN(len(free))
				if takes(&g.Snapshot.Nodes[at], free[at], s) {
					for name, amount := range s.Requests {
						free[at][name] -= amount
					}
					p.Node = int32(at)
					break
				}
			}
		}
		if p.Node < 0 {
			q.Pods = append(q.Pods, int32(i))
		}
	}
}

// takes says whether a node has room for a pod, and no taint against it.
func takes(n *model.Node, free model.Resources, s *model.PodSpec) bool {
	for name, amount := range s.Requests {
		if free[name] < amount {
			return false
		}
	}
	for i := range n.Taints {
		if t := &n.Taints[i]; t.Effect != model.PreferNoSchedule && !s.Tolerates(t) {
			return false
		}
	}
	return true
}
