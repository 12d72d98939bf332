package model

import "time"

// NodeState is a node's stage of life.
type NodeState string

// The states of a node, in order.
const (
	// InFlight is a NodeClaim without a registered node.
	InFlight NodeState = "InFlight"
	// Registered is a node that exists but is not initialized yet.
	Registered NodeState = "Registered"
	// Initialized is a node that accepts pods.
	Initialized NodeState = "Initialized"
	// Deleting is a node that is deleted or whose claim is. Its pods need another
	// place.
	Deleting NodeState = "Deleting"
	// Unmanaged is a node without a NodeClaim. Pods may be placed on it. It is never
	// disrupted. It has no price, unless the cloud says that its instance was launched
	// by Spokeshave: then it is billed, and counts as spend.
	Unmanaged NodeState = "Unmanaged"
)

// Node is a node or an in-flight NodeClaim.
//
// Size: everything that a decision asks about a node; snapshots store it in this form.
type Node struct {
	// Name is the Node's name, or the claim's while there is no node.
	Name  string `json:"name"`
	Claim string `json:"claim,omitempty"`
	// Pool indexes Snapshot.Pools, -1 when the node has none.
	Pool int32 `json:"pool"`
	// PoolName and PoolLabels are those of a NodePool that was deleted (Pool is -1).
	// PoolName is also set for an unmanaged node that Spokeshave launched, and for an
	// instance that has neither claim nor node, whose Name is its provider ID.
	PoolName     string            `json:"poolName,omitempty"`
	PoolLabels   map[string]string `json:"poolLabels,omitempty"`
	State        NodeState         `json:"state"`
	Labels       map[string]string `json:"labels,omitempty"`
	Taints       []Taint           `json:"taints,omitempty"`
	InstanceType string            `json:"instanceType,omitempty"`
	Zone         string            `json:"zone,omitempty"`
	CapacityType CapacityType      `json:"capacityType,omitempty"`
	// Mislabelled is set when the node's own labels contradict InstanceType, Zone,
	// CapacityType or the NodePool, which come from the NodeClaim and the cloud, or when it
	// reports a size that its instance type does not have.
	Mislabelled bool `json:"mislabelled,omitempty"`
	// Allocatable is the total that pods may use. Pod.Node tells which pods use it.
	Allocatable Resources `json:"allocatable"`
	// Price is the billed price. Reserved is the highest price of the launch, which
	// counts against the ceilings while it is in flight; 0 once the price is known.
	Price    Price `json:"price"`
	Reserved Price `json:"reserved,omitempty"`
	// PriceAssumed is set when nobody knows the price. Price is then an assumption on
	// the high side: it counts as spend, and saves nothing when the node goes.
	PriceAssumed bool `json:"priceAssumed,omitempty"`
	// Extra is the hourly price besides the instance: Catalog.NodeCost of its node
	// class. Reserved includes it.
	Extra Price `json:"extra,omitempty"`
	// Bought is the offering's cost when the launch was decided; nil when not known.
	Bought *Bought `json:"bought,omitempty"`
	// Noticed is set after an interruption notice from EC2: the instance ends within
	// minutes. Its price no longer counts against caps, so that a replacement can be
	// launched under a full cap.
	Noticed bool `json:"noticed,omitempty"`
	// LaunchedAt is when the instance started; zero in flight.
	LaunchedAt time.Time `json:"launchedAt,omitzero"`
	// LastPodEvent is when a pod last came to the node or left it.
	LastPodEvent time.Time `json:"lastPodEvent,omitzero"`
	// DoNotDisrupt mirrors the node annotation karpenter.sh/do-not-disrupt.
	DoNotDisrupt bool `json:"doNotDisrupt,omitempty"`
	// Nominated is set while pending pods are expected to be bound to the node.
	Nominated bool `json:"nominated,omitempty"`
	// InitializedAt is when the node began to accept pods; zero before.
	InitializedAt time.Time `json:"initializedAt,omitzero"`
	// ExpiresAt is when the node is drained because of its age; zero for never.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	// TerminationGrace limits the duration of the node's drain; 0 is no limit. With
	// a limit, neither protected pods nor PodDisruptionBudgets keep a drifted node.
	TerminationGrace time.Duration `json:"terminationGrace,omitempty"`
	// Drifted says how the node differs from what its NodePool and node class ask
	// for now; empty when it does not differ.
	Drifted string `json:"drifted,omitempty"`
	// NotReady is set when the node's kubelet does not respond or reports that it
	// cannot run pods.
	NotReady bool `json:"notReady,omitempty"`
	// Command is the disruption of the node that is under way; nil for none.
	Command *Command `json:"command,omitempty"`
	// UndoneAt is when a disruption of the node was last undone; zero for never.
	UndoneAt time.Time `json:"undoneAt,omitzero"`
	// Replaces are the claims that the node was launched to replace.
	Replaces []string `json:"replaces,omitempty"`
	// ForMoved is set when the node was launched for waiting pods while pods had to leave other
	// nodes, or soon after (Snapshot.PodsMove), and so perhaps for them; and when it replaces
	// such a node.
	ForMoved bool `json:"forMoved,omitempty"`
}

// Cost returns the node's total hourly price: instance, volumes and address.
func (n *Node) Cost() Price { return n.Price + n.Extra }

// Command is a disruption under way, as recorded on the claim of each of its nodes.
// It contains all that is needed to continue the disruption.
type Command struct {
	ID string `json:"id"`
	// Method is the kind of disruption: Drifted, Underutilized.
	Method string `json:"method"`
	// Nodes are the claims to delete. Replacements are the claims that must be
	// initialized first.
	Nodes        []string  `json:"nodes"`
	Replacements []string  `json:"replacements,omitempty"`
	Started      time.Time `json:"started"`
	// Removed is the effective cost of the nodes to delete, in USD/hour, and Billed
	// is their hourly price, both when the disruption began. Later prices are
	// compared with them. 0 means not known.
	Removed float64 `json:"removed,omitempty"`
	Billed  Price   `json:"billed,omitempty"`
}

// Bought is the cost of an instance when its launch was decided: Price is the billed
// price and Effective the cost after the rank policies, in USD/hour. Neither
// includes volumes and address: Extra is what these cost when the instance was launched, 0 when not known.
type Bought struct {
	Price     Price   `json:"price"`
	Effective float64 `json:"effectivePrice"`
	Extra     Price   `json:"extra,omitempty"`
}

// BoughtAs returns the cost of the option that an instance was launched as; nil when
// it is none of the options.
func BoughtAs(options []Option, instanceType, zone string, capacityType CapacityType) *Bought {
	for i := range options {
		if o := &options[i]; o.InstanceType == instanceType && o.Zone == zone && o.CapacityType == capacityType {
			return &Bought{Price: o.Price, Effective: o.Effective}
		}
	}
	return nil
}
