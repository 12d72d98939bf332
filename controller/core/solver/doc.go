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
// A strategy first translates the snapshot into a problem (problem.go). Labels,
// zones and resource names become small integers, sets of offerings become bit sets,
// and requests become fixed vectors. Pods that the scheduler treats alike form one
// class with a count. Classes with equal requests and equal sets of offerings form
// one item, and items are what is packed. The time of a solve therefore depends
// mainly on the number of different shapes and little on the number of pods.
//
// A strategy that packs fills the existing nodes (host.go), assigns the remaining
// pods to topology domains (domainassign.go) and packs them onto new nodes.
// attempt.go turns patterns into nodes as far as limits, headroom, reservations and
// tiers allow (commit.go, budget.go, tier.go), in several modes (mode.go). At the
// end it removes pods whose constraints depend on pods without a place (evict.go). A
// strategy that inserts places pods one by one where all constraints hold at that
// moment (insertion.go), and then packs them again within the domains it found
// (repack.go).
//
// Pods with affinity to others on their own node go to existing nodes that have
// those pods. When none has room, they are bundled with other pods that are to be
// placed: a bundle is packed as if it were one pod (bundle.go, colocator.go).
//
// # Subpackages
//
//   - effort: how much work one solve may do, in moves.
//   - constraint: topology groups, node counts, ports, taints and labels.
//   - packing: cutting stock over items and bin types, without knowledge of pods.
//   - lp: the linear programs of packing.
//   - vec: vectors and bit sets.
//   - bindorder: whether the scheduler's order lets every pod bind.
//   - explain: why a pod has no place.
//
// A subpackage may import the subpackages below it and never this package.
//
// # Guarantees
//
// A solve is deterministic: effort is counted in moves and not in time, ties go to
// the name that sorts first, and the order of the snapshot's lists does not matter.
// Solve does not change its input and keeps nothing for the next solve.
//
// LowerBound (bound.go) solves another problem: what new nodes for the pods of a
// plan cost at least, however they are packed.
//
// The effective costs come from the rank policies (Input.Costs) and the spending
// limits from Input.Headroom. Package controller/core/check verifies plans.
package solver
