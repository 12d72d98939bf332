// Package solver packs pending pods onto existing nodes and onto nodes to be
// launched, at the least total effective cost that the constraints allow.
//
// A snapshot is lowered once: labels, zones and resource names become small
// integers, sets of offerings become bitsets, requests become fixed vectors.
// Pods that are equal to the scheduler form one class with a count; classes of
// equal requests and equal choice of offerings form one item, and items are what
// is packed. The cost of a solve therefore grows with the number of different
// shapes, hardly with the number of pods.
//
// Everything is deterministic: effort is counted in moves and never in time,
// ties go to the name that sorts first, and the order of the snapshot's lists
// does not matter.
//
// Topology constraints are of two kinds. Those on single nodes (hostname) are
// rules of what a node may hold (nodecounts.go). For all other keys pods are held
// to domains before they are packed (domainassign.go), and pods that relied on others
// which found no place are taken back at the end (evict.go). Preferences are
// taken as requirements and given up one at a time (preference.go).
//
// A pod that wants others on its own node goes to existing nodes that have them.
// Where none has room it is bundled with others of them that are to be placed:
// a bundle is packed as if it were one pod (bundle.go).
//
// Not here: what an offering is worth (the rank policies, through Input.Costs),
// how much may be spent (Input.Headroom), and proving a plan right
// (controller/core/check).
package solver
