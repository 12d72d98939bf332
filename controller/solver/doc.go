// Package solver packs pending pods onto existing nodes and onto nodes to be
// launched, at the least total effective cost that the constraints allow.
//
// A snapshot is lowered once: labels, zones and resource names become small
// integers, sets of offerings become bitsets, requests become fixed vectors.
// Pods that are equal to the scheduler form one class with a count; classes of
// equal requests and equal choice of offerings form one row, and rows are what
// is packed. The cost of a solve therefore grows with the number of different
// shapes, hardly with the number of pods.
//
// Everything is deterministic: effort is counted in moves and never in time,
// ties go to the name that sorts first, and the order of the snapshot's lists
// does not matter.
//
// Preferred node affinity and PreferNoSchedule taints do not influence a plan
// yet, nor does MinValues.
//
// Not here: what an offering is worth (the rank policies, through Input.Costs),
// how much may be spent (Input.Headroom), and proving a plan right
// (controller/check).
package solver
