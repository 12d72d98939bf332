package commit

import (
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
)

// Node is a node to launch.
type Node struct {
	// Template is the index of its node template in Table.Templates.
	Template int32
	// Placed are its pods, and Demand is the sum of their requests.
	Placed []problem.ClassCount
	Demand vec.Vector
	// Set holds the offers that the constraints of all its pods allow.
	Set vec.Bits
	// Ports are the host ports in use, by their numbers in Problem.Ports.
	Ports []int32
	// Counts are the pods on the node by topology group.
	Counts constraint.NodeCounts
	// Options are offers, best first. Costs are their effective costs, stored only
	// where tiers make them differ between nodes.
	Options []int32
	Costs   []float64
	// shares is what the node uses of the tiers' groups when launched as its first
	// option.
	shares []supply.Share
}

// Join adds n pods of a class to the node.
func (n *Node) Join(cl *problem.Class, t problem.ClassCount) {
	n.Demand.Add(&cl.Requests, int64(t.N))
	n.Placed = append(n.Placed, t)
	n.Counts.Add(cl.Terms, t.N)
	if cl.Ports >= 0 {
		n.Ports = append(n.Ports, cl.Ports)
	}
}

// FixedCost returns what the plan's nodes cost besides their instances.
func (a *Attempt) FixedCost() model.Price {
	var sum model.Price
	for _, n := range a.Nodes {
		sum += a.p.Supply.FixedCost(n.Template)
	}
	return sum
}

// Effective returns the plan's effective cost in USD/hour.
func (a *Attempt) Effective() float64 {
	sum := 0.0
	for _, n := range a.Nodes {
		sum += a.OptionCost(n, 0)
	}
	return sum
}

// OptionCost returns the effective cost of one of the node's options.
func (a *Attempt) OptionCost(n *Node, i int) float64 {
	if n.Costs != nil {
		return n.Costs[i]
	}
	return a.p.Supply.Offers[n.Options[i]].Cost
}

// Billed returns the hourly price of the plan's nodes.
func (a *Attempt) Billed() model.Price {
	var sum model.Price
	for _, n := range a.Nodes {
		sum += a.p.Supply.Offers[n.Options[0]].Price
	}
	return sum
}
