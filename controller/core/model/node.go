package model

import "time"

// NodeState is how far a node has come.
type NodeState string

// The states of a node, in order.
const (
	// InFlight: a NodeClaim without a registered node.
	InFlight NodeState = "InFlight"
	// Registered: the node exists, but is not yet initialized.
	Registered NodeState = "Registered"
	// Initialized: the node takes pods.
	Initialized NodeState = "Initialized"
	// Deleting: the node or its claim is on its way out; its pods need a
	// new place.
	Deleting NodeState = "Deleting"
	// Unmanaged: a node without a NodeClaim. Pods fit on it, but it is
	// never disrupted and not counted as spend.
	Unmanaged NodeState = "Unmanaged"
)

// Node is a node or an in-flight NodeClaim.
type Node struct {
	// Name is the Node's name, or the claim's while there is no node.
	Name  string `json:"name"`
	Claim string `json:"claim,omitempty"`
	// Pool indexes Snapshot.Pools, -1 when the node has none.
	Pool int32 `json:"pool"`
	// PoolLabels are those of a pool that is gone (Pool is -1).
	PoolLabels   map[string]string `json:"poolLabels,omitempty"`
	State        NodeState         `json:"state"`
	Labels       map[string]string `json:"labels,omitempty"`
	Taints       []Taint           `json:"taints,omitempty"`
	InstanceType string            `json:"instanceType,omitempty"`
	Zone         string            `json:"zone,omitempty"`
	CapacityType CapacityType      `json:"capacityType,omitempty"`
	// Allocatable is what pods may use in all; the pods placed on the node
	// are found through Pod.Node.
	Allocatable Resources `json:"allocatable"`
	// Price is billed; Reserved is the worst case held against the ceilings
	// while the launch is in flight (0 once the price is known).
	Price    Price `json:"price"`
	Reserved Price `json:"reserved,omitempty"`
	// Extra is what the node costs per hour besides its instance: its node
	// class's Catalog.NodeCost. Reserved includes it.
	Extra Price `json:"extra,omitempty"`
	// Bought is the offering's cost when the launch was decided; nil where that
	// is not known.
	Bought *Bought `json:"bought,omitempty"`
	// Noticed says that EC2 has given notice: the instance is gone within minutes,
	// and what comes in its stead may be launched under a full cap.
	Noticed bool `json:"noticed,omitempty"`
	// LaunchedAt is when the instance started; zero in flight.
	LaunchedAt time.Time `json:"launchedAt,omitzero"`
	// LastPodEvent is when a pod last came or went.
	LastPodEvent time.Time `json:"lastPodEvent,omitzero"`
	// DoNotDisrupt mirrors the node annotation karpenter.sh/do-not-disrupt.
	DoNotDisrupt bool `json:"doNotDisrupt,omitempty"`
	// Nominated says that pending pods are about to land here.
	Nominated bool `json:"nominated,omitempty"`
	// InitializedAt is when the node began to take pods; zero before.
	InitializedAt time.Time `json:"initializedAt,omitzero"`
	// ExpiresAt is when the node is drained for its age; zero for never.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	// TerminationGrace bounds the node's drain; 0 is no bound. With one,
	// neither protected pods nor disruption budgets keep a drifted node.
	TerminationGrace time.Duration `json:"terminationGrace,omitempty"`
	// Drifted is how the node differs from what its NodePool and node class
	// ask for now; empty when it does not.
	Drifted string `json:"drifted,omitempty"`
	// NotReady says that the node's kubelet does not answer, or answers that
	// it cannot run pods.
	NotReady bool `json:"notReady,omitempty"`
	// Command is the disruption of the node that is under way.
	Command *Command `json:"command,omitempty"`
	// UndoneAt is when a disruption of the node was last taken back.
	UndoneAt time.Time `json:"undoneAt,omitzero"`
	// Replaces are the claims in whose stead the node was launched.
	Replaces []string `json:"replaces,omitempty"`
}

// Cost is what the node costs per hour in all: instance, volumes and address.
func (n *Node) Cost() Price { return n.Price + n.Extra }

// Command is a disruption under way, as it is written on the claim of every
// node that goes. It is all that has to be known to go on with it.
type Command struct {
	ID string `json:"id"`
	// Method is the kind of disruption: Drifted, Underutilized.
	Method string `json:"method"`
	// Nodes are the claims that go, Replacements those that have to be
	// initialized before.
	Nodes        []string  `json:"nodes"`
	Replacements []string  `json:"replacements,omitempty"`
	Started      time.Time `json:"started"`
	// Removed is what the nodes that go cost in the eyes of the rank policies,
	// in USD/hour, and Billed what was paid for them, when the disruption began:
	// against these is judged how prices have changed. 0 is not known.
	Removed float64 `json:"removed,omitempty"`
	Billed  Price   `json:"billed,omitempty"`
}

// Bought is what an instance cost when its launch was decided: Price as it was
// billed, Effective in the eyes of the rank policies, in USD/hour. Neither
// includes volumes and address.
type Bought struct {
	Price     Price   `json:"price"`
	Effective float64 `json:"effectivePrice"`
}

// BoughtAs is what an instance cost when it was decided to launch one of the
// options; nil when it is none of them.
func BoughtAs(options []Option, instanceType, zone string, capacityType CapacityType) *Bought {
	for i := range options {
		if o := &options[i]; o.InstanceType == instanceType && o.Zone == zone && o.CapacityType == capacityType {
			return &Bought{Price: o.Price, Effective: o.Effective}
		}
	}
	return nil
}
