// Package disrupt finds nodes that can be disrupted and their replacements: nodes
// that run no pods, nodes that have drifted, and nodes that cost more than the
// capacity that their pods could use instead.
//
// NewSurvey collects the facts about every node in one pass. A Projection answers whether
// a set of nodes can be removed and what the cheapest replacement is, by solving a
// snapshot in which these nodes are being deleted. Search calls it for the nodes for
// which a cheap estimate shows a saving.
//
// This package makes proposals only. Consolidate policies, ceilings and the commands
// under way are applied by package controller/core/decide.
package disrupt

// Method is the kind of a voluntary disruption.
type Method string

// The methods.
const (
	// Empty removes a node that runs nothing but DaemonSet pods.
	Empty Method = "Empty"
	// Drifted replaces a node that is not what its NodePool asks for now.
	Drifted Method = "Drifted"
	// Underutilized removes a node whose pods can run for less elsewhere.
	Underutilized Method = "Underutilized"
)
