package model

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Plan says where each pending pod goes and which nodes to launch for it.
type Plan struct {
	Nodes    []PlannedNode `json:"nodes"`
	Existing []Assignment  `json:"existing"`
	Unplaced []Unplaced    `json:"unplaced"`
}

// PlannedNode is a node to launch.
type PlannedNode struct {
	// Pool indexes Snapshot.Pools.
	Pool int32 `json:"pool"`
	// Pods index Snapshot.Pods.
	Pods []int32 `json:"pods"`
	// Labels are values chosen for keys of the user's own that the pool's
	// requirements define ("team In [red, blue]"). The node must carry them.
	Labels map[string]string `json:"labels,omitempty"`
	// Requests sums the pods and the DaemonSets that will run beside them.
	Requests Resources `json:"requests"`
	// Options are the ways to launch the node, best first. Each of them has room for
	// all the pods. The first one counts in the plan's cost.
	Options []Option `json:"options"`
}

// Worst returns the highest billed price among the options. Together with
// Snapshot.NodeCost it is what the ceilings reserve until the launch is known.
func (n *PlannedNode) Worst() Price {
	var worst Price
	for i := range n.Options {
		worst = max(worst, n.Options[i].Price)
	}
	return worst
}

// ClaimName returns the name of the NodeClaim for a node of a decision. Applying a
// decision twice yields the same names. The name also becomes a label value, which
// may have at most 63 characters.
func ClaimName(pool, decision string, at int) string {
	const most = 63 - 9
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", pool, decision, at))
	return pool[:min(len(pool), most)] + "-" + hex.EncodeToString(sum[:4])
}

// Assignment places pods on an existing node or one in flight.
type Assignment struct {
	// Node indexes Snapshot.Nodes.
	Node int32   `json:"node"`
	Pods []int32 `json:"pods"`
}

// Unplaced is a pod without a place, with the reasons.
type Unplaced struct {
	Pod     int32    `json:"pod"`
	Reasons []Reason `json:"reasons"`
}

// ReasonCode says why a pod was not placed or a node was kept. The list is closed.
// Events, conditions, metric labels and explanations use it.
type ReasonCode string

// The reasons.
const (
	// NoPools: no NodePool exists, or none applies.
	NoPools ReasonCode = "NoPools"
	// PoolNotReady: the pool's node class is missing or not ready.
	PoolNotReady ReasonCode = "PoolNotReady"
	// TaintNotTolerated: the pod does not tolerate the pool's taints.
	TaintNotTolerated ReasonCode = "TaintNotTolerated"
	// RequirementsConflict: selector or affinity contradicts the pool.
	RequirementsConflict ReasonCode = "RequirementsConflict"
	// NoInstanceType: nothing in the catalogue meets selector and affinity.
	NoInstanceType ReasonCode = "NoInstanceType"
	// TooLarge: no matching instance type has enough of a resource.
	TooLarge ReasonCode = "TooLarge"
	// NoCapacity: the matching offerings are sold out for now.
	NoCapacity ReasonCode = "NoCapacity"
	// LimitReached: the NodePool's limits leave no room.
	LimitReached ReasonCode = "LimitReached"
	// CeilingReached: a ceiling policy's cap leaves too little headroom.
	CeilingReached ReasonCode = "CeilingReached"
	// LaunchDenied: a ceiling policy denied the launch.
	LaunchDenied ReasonCode = "LaunchDenied"
	// RankExcluded: rank policies dropped every offering that would fit.
	RankExcluded ReasonCode = "RankExcluded"
	// PolicyUnavailable: a required or fail-closed policy gave no answer.
	PolicyUnavailable ReasonCode = "PolicyUnavailable"
	// TopologySpread: no domain can take the pod without violating one of its
	// topology spread constraints.
	TopologySpread ReasonCode = "TopologySpread"
	// PodAffinity: no domain with room has the pods that its affinity requires.
	PodAffinity ReasonCode = "PodAffinity"
	// PodAntiAffinity: in every domain with room an anti-affinity term of the pod or
	// of another pod excludes it.
	PodAntiAffinity ReasonCode = "PodAntiAffinity"
	// MinValues: no node could keep the NodePool's minValues.
	MinValues ReasonCode = "MinValues"
	// Unsupported: the pod has a required constraint that is not implemented.
	Unsupported ReasonCode = "Unsupported"
	// NotProven: the plan for the pod failed its proof, which is a defect in this
	// program.
	NotProven ReasonCode = "NotProven"
	// HeldBack: the pod is left out of decisions for a while. The API server refused
	// the NodeClaim for it, or planning for it failed.
	HeldBack ReasonCode = "HeldBack"
	// WaitsForRollout: the pod belongs to a new workload, and others have yet to create
	// their first pod: all are planned together.
	WaitsForRollout ReasonCode = "WaitsForRollout"
)

// Reasons returns all codes.
func Reasons() []ReasonCode {
	return []ReasonCode{
		NoPools, PoolNotReady, TaintNotTolerated, RequirementsConflict, NoInstanceType, TooLarge, NoCapacity, LimitReached, CeilingReached,
		LaunchDenied, RankExcluded, PolicyUnavailable, TopologySpread, PodAffinity, PodAntiAffinity, MinValues, Unsupported, NotProven, HeldBack,
		WaitsForRollout,
	}
}

// Reason is one explanation, with a sentence for people.
type Reason struct {
	Code ReasonCode `json:"code"`
	Pool string     `json:"pool,omitempty"`
	// Policy is the policy that refused, where one did.
	Policy  string `json:"policy,omitempty"`
	Message string `json:"message"`
	// Scope is the scope of the cap that was reached. Short is how much more
	// headroom, per hour, the cheapest offering that fits would need.
	Scope string `json:"scope,omitempty"`
	Short Price  `json:"short,omitempty"`
}
