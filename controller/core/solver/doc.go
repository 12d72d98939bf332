// Package solver assigns pending pods to existing nodes and to nodes to be launched.
// It looks for the lowest total effective cost that the constraints allow.
//
// # How a solve works
//
// Solve answers a question: which pods to place, and which of their preferences
// count as requirements (relaxation.go). find runs a list of strategies on the
// question in a fixed order (strategy.go), skips those that cannot improve on the
// earlier results, and keeps the best plan (search.go). Pods that the scheduler
// would never bind are removed, and the question is asked again (bindable.go). Every
// plan made is a Trial in Stats.Trials. All of them share one budget of effort.
//
// A strategy first translates the snapshot into a problem (package problem). Labels,
// zones and resource names become small integers, sets of offerings become bit sets,
// and requests become fixed vectors. Pods that the scheduler treats alike form one
// class with a count. Classes with equal requests and equal sets of offerings form
// one item, and items are what is packed. The time of a solve therefore depends
// mainly on the number of different shapes and little on the number of pods.
//
// A strategy that packs (solveWith) assigns pods to topology domains, fills the
// existing nodes, packs the remaining pods and turns patterns into nodes as far as
// limits, headroom, reservations and tiers allow. At the end it removes pods whose
// constraints depend on pods without a place. A strategy that inserts places pods
// one by one where all constraints hold at that moment, and then packs them again
// within the domains it found (insertions.go).
//
// Pods with affinity to others on their own node go to existing nodes that have
// those pods. When none has room, they are bundled with other pods that are to be
// placed: a bundle is packed as if it were one pod (packed.go).
//
// # Subpackages
//
//   - planwriter: a plan in terms of the snapshot, with the reasons of unplaced pods.
//   - bound: a lower bound on the cost of a plan's new nodes.
//   - insertion: pods placed one by one.
//   - commit: patterns become new nodes.
//   - existing: pods placed on existing nodes.
//   - domains: pods assigned to zones and other topology domains.
//   - colocate: pods that need one node together.
//   - problem: the snapshot in the solver's representation.
//   - explain: why a pod has no place.
//   - bindorder: whether the scheduler's order lets every pod bind.
//   - supply: what can be launched.
//   - constraint: topology groups, node counts, ports, taints and labels.
//   - effort: how much work one solve may do, in moves.
//   - packing: cutting stock over items and bin types, without knowledge of pods.
//   - lp: the linear programs of packing.
//   - vec: vectors and bit sets.
//
// A subpackage may import the subpackages below it in this list, and never this
// package.
//
// # Guarantees
//
// A solve is deterministic: effort is counted in moves and not in time, ties go to
// the name that sorts first, and the order of the snapshot's lists does not matter.
// Solve does not change its input and keeps nothing for the next solve.
//
// LowerBound solves another problem: what new nodes for the pods of a plan cost at
// least, however they are packed.
//
// The effective costs come from the rank policies (Input.Costs) and the spending
// limits from Input.Headroom. Package controller/core/check verifies plans.
package solver
