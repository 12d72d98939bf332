// Package disrupt finds nodes that could go, and what it would take: which of
// them run nothing, which are out of date, and which cost more than the nodes
// that their pods could run on.
//
// A Survey gathers what is known of every node once. A Scene answers "can
// these nodes go, and what is the cheapest replacement" by solving a snapshot
// in which they are on their way out; Search asks it about the nodes for which
// a cheap estimate promises something.
//
// It decides nothing about whether nodes may go: consolidate policies, ceilings
// and the commands under way have the word (controller/core/decide).
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
