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
	// Options are the ways to launch the node, best first; every one of them
	// holds all the pods. The first is the one the plan's cost counts.
	Options []Option `json:"options"`
}

// Worst is the dearest billed price among the options. With what a node of the
// pool costs besides its instance (Snapshot.NodeCost) it is what the ceilings
// reserve until the launch is known.
func (n *PlannedNode) Worst() Price {
	var worst Price
	for i := range n.Options {
		worst = max(worst, n.Options[i].Price)
	}
	return worst
}

// ClaimName names the NodeClaim of a decision's node: applying a decision twice
// makes the same claims. A label's value, which the name becomes, holds 63
// characters.
func ClaimName(pool, decision string, at int) string {
	const most = 63 - 9
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", pool, decision, at))
	return pool[:min(len(pool), most)] + "-" + hex.EncodeToString(sum[:4])
}

// Assignment places pods on a node that exists or is in flight.
type Assignment struct {
	// Node indexes Snapshot.Nodes.
	Node int32   `json:"node"`
	Pods []int32 `json:"pods"`
}

// Unplaced is a pod that found no place, and why.
type Unplaced struct {
	Pod     int32    `json:"pod"`
	Reasons []Reason `json:"reasons"`
}

// ReasonCode is the closed list of why a pod was not placed or a node not
// touched. Events, conditions, metric labels and explanations use it.
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
	// TopologySpread: no domain can take the pod without upsetting one of its
	// topology spread constraints.
	TopologySpread ReasonCode = "TopologySpread"
	// PodAffinity: no domain with a place has the pods that it wants near.
	PodAffinity ReasonCode = "PodAffinity"
	// PodAntiAffinity: every domain with a place has pods that it, or they,
	// want apart.
	PodAntiAffinity ReasonCode = "PodAntiAffinity"
	// MinValues: no node could keep the NodePool's minValues.
	MinValues ReasonCode = "MinValues"
	// Unsupported: the pod has a required constraint this version lacks.
	Unsupported ReasonCode = "Unsupported"
)

// Reasons are all the codes.
func Reasons() []ReasonCode {
	return []ReasonCode{
		NoPools, PoolNotReady, TaintNotTolerated, RequirementsConflict, NoInstanceType, TooLarge, NoCapacity, LimitReached, CeilingReached,
		LaunchDenied, RankExcluded, PolicyUnavailable, TopologySpread, PodAffinity, PodAntiAffinity, MinValues, Unsupported,
	}
}

// Reason is one structured explanation, with a sentence for people.
type Reason struct {
	Code ReasonCode `json:"code"`
	Pool string     `json:"pool,omitempty"`
	// Policy is the policy that refused, where one did.
	Policy  string `json:"policy,omitempty"`
	Message string `json:"message"`
	// Scope is what the cap is on that was reached, and Short how much more it
	// would have to leave, per hour, for the cheapest offering that fits.
	Scope string `json:"scope,omitempty"`
	Short Price  `json:"short,omitempty"`
}
