// Package solver packs pending pods onto existing nodes and onto nodes to be
// launched, at the least total effective cost that the constraints allow.
//
// # How a solve goes
//
// Solve asks a question: which pods, and which of their preferences count as
// requirements (relaxation.go). A question is answered by the list of strategies
// (strategy.go): find runs it in order, each strategy where what was found before
// makes it worth its work, and keeps the best plan (search.go). Pods that the
// scheduler would never bind are taken out, and the question is asked again
// (bindable.go). Every plan made is a Trial in Stats.Trials, and all of them are
// charged to one budget of effort.
//
// A strategy lowers the snapshot to a problem (problem.go): labels, zones and resource
// names become small integers, sets of offerings become bit sets, requests become
// fixed vectors. Pods that are equal to the scheduler form one class with a count;
// classes of equal requests and equal choice of offerings form one item, and items are
// what is packed. The time of a solve therefore grows with the number of different
// shapes, hardly with the number of pods.
//
// A strategy that packs fills existing nodes (host.go), assigns what is left to topology
// domains (domainassign.go) and packs it onto new nodes. attempt.go turns patterns
// into nodes as far as limits, headroom, reservations and tiers allow (commit.go,
// budget.go, tier.go), in one mode after the other (mode.go). Pods that relied on others
// which found no place are taken back at the end (evict.go). A strategy that inserts
// places pods one by one where all constraints hold at that moment (insertion.go), and
// packs them again where that has put them (repack.go).
//
// Pods that want others on their own node go to existing nodes that have them. Where
// none has room they are bundled with others that are to be placed: a bundle is packed as
// if it were one pod (bundle.go, colocator.go).
//
// # Rooms
//
//   - effort: how much work one solve may do, in moves.
//   - constraint: topology groups, node counts, ports, taints and labels.
//   - packing: cutting stock over items and bin types; it knows nothing of pods.
//   - lp: the linear programs of packing.
//   - vec: vectors and bit sets.
//   - bindorder: whether the scheduler's order lets every pod bind.
//   - explain: why a pod has no place.
//
// A room imports those below it in this package's tree and never this package.
//
// # What holds
//
// Everything is deterministic: effort is counted in moves and never in time,
// ties go to the name that sorts first, and the order of the snapshot's lists
// does not matter. The input is never changed, and nothing is kept from one solve to
// the next.
//
// LowerBound (bound.go) is a problem of its own: what new nodes for the pods of a
// plan cost at least, however they are packed.
//
// Not here: what an offering is worth (the rank policies, through Input.Costs),
// how much may be spent (Input.Headroom), and proving a plan right
// (controller/core/check).
package solver
