// Package top sums up what nodes cost and how full they are, from a snapshot of a cluster.
package top

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"spokeshave.dev/controller/core/model"
)

// Node is a node, or a NodeClaim without one.
type Node struct {
	Name     string          `json:"name"`
	NodePool string          `json:"nodePool"`
	Type     string          `json:"type"`
	Zone     string          `json:"zone"`
	Capacity string          `json:"capacityType"`
	State    model.NodeState `json:"state"`
	// Age is how long the instance has run, in seconds.
	Age int64 `json:"ageSeconds"`
	// Price is in dollars an hour, volumes and addresses included; nil where nobody knows it, or
	// where the node is not of a NodePool.
	Price  *float64 `json:"price"`
	CPU    Fill     `json:"cpu"`    // cores
	Memory Fill     `json:"memory"` // bytes
	Pods   Fill     `json:"pods"`
}

// Fill is what pods request of what they may use.
type Fill struct {
	Requested   float64 `json:"requested"`
	Allocatable float64 `json:"allocatable"`
}

// Percent returns the share that is requested, 0 of nothing.
func (f Fill) Percent() float64 {
	if f.Allocatable == 0 {
		return 0
	}
	return 100 * f.Requested / f.Allocatable
}

func (f *Fill) add(other Fill) {
	f.Requested += other.Requested
	f.Allocatable += other.Allocatable
}

// Summary is a cluster's nodes, and all of them together. Total counts nodes that have
// a price.
type Summary struct {
	Nodes []Node `json:"nodes"`
	Total Total  `json:"total"`
}

// Total is the sum over nodes.
type Total struct {
	Nodes  int     `json:"nodes"`
	Price  float64 `json:"price"`
	CPU    Fill    `json:"cpu"`
	Memory Fill    `json:"memory"`
	// Waiting are the pods without a node, all of the cluster's.
	Waiting int `json:"waitingPods"`
}

// Of sums a snapshot up: nodes of one NodePool, or all nodes where pool is "".
func Of(s *model.Snapshot, pool string) Summary {
	used := make([]model.Resources, len(s.Nodes))
	pods := make([]int, len(s.Nodes))
	var out Summary
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Node < 0 {
			out.Total.Waiting++
			continue
		}
		if used[p.Node] == nil {
			used[p.Node] = model.Resources{}
		}
		used[p.Node].Add(s.Specs[p.Spec].Requests)
		pods[p.Node]++
	}
	for i := range s.Nodes {
		n := node(s, i, used[i], pods[i])
		if pool != "" && n.NodePool != pool {
			continue
		}
		out.Nodes = append(out.Nodes, n)
		if n.Price != nil {
			out.Total.Nodes++
			out.Total.Price += *n.Price
			out.Total.CPU.add(n.CPU)
			out.Total.Memory.add(n.Memory)
		}
	}
	return out
}

func node(s *model.Snapshot, i int, used model.Resources, pods int) Node {
	in := &s.Nodes[i]
	out := Node{
		Name: in.Name, NodePool: in.PoolName, Type: in.InstanceType, Zone: in.Zone, Capacity: string(in.CapacityType), State: in.State,
		CPU:    Fill{float64(used[model.CPU]) / 1000, float64(in.Allocatable[model.CPU]) / 1000},
		Memory: Fill{float64(used[model.Memory]), float64(in.Allocatable[model.Memory])},
		Pods:   Fill{float64(pods), float64(in.Allocatable[model.PodSlots])},
	}
	if in.Pool >= 0 {
		out.NodePool = s.Pools[in.Pool].Name
	}
	if !in.LaunchedAt.IsZero() {
		out.Age = int64(s.Time.Sub(in.LaunchedAt) / time.Second)
	}
	if price := (in.Price + in.Extra).USD(); price > 0 && !in.PriceAssumed {
		out.Price = &price
	}
	return out
}

// Orders are the orders that Sort knows: the dearest, emptiest and oldest nodes come first.
func Orders() []string { return []string{"price", "cpu", "memory", "age", "name"} }

// Sort puts the nodes in an order, equals by name.
func (s *Summary) Sort(order string) {
	price := func(n *Node) float64 {
		if n.Price == nil {
			return 0
		}
		return *n.Price
	}
	slices.SortFunc(s.Nodes, func(a, b Node) int {
		by := 0
		switch order {
		case "price":
			by = cmp.Compare(price(&b), price(&a))
		case "cpu":
			by = cmp.Compare(a.CPU.Percent(), b.CPU.Percent())
		case "memory":
			by = cmp.Compare(a.Memory.Percent(), b.Memory.Percent())
		case "age":
			by = cmp.Compare(b.Age, a.Age)
		}
		return cmp.Or(by, strings.Compare(a.Name, b.Name))
	})
}
