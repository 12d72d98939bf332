// Package applied projects a snapshot to the time after a plan was carried out: the planned
// nodes exist, the pods are on the nodes that they were planned for, and NodePools and
// headroom are used accordingly.
//
// Not here: what to plan next in such a snapshot (packages solver and disrupt).
package applied
