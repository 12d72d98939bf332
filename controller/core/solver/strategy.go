package solver

// strategy is one way to plan the pods of a question.
type strategy struct {
	// name identifies the strategy in Stats.Trials.
	name    string
	options options
	// effort bounds the improvement of each packing, in moves, together with
	// Input.Effort.
	effort int
	// rounds is how often the strategy may run in succession.
	rounds int
	// next readies the next round and says why it is worth its work; "" says that
	// it is not, and ends the rounds.
	next func(*search, *strategy) string
}

// options are what strategies differ in.
type options struct {
	kind kind
	// domains is what the domain of a pod is chosen by, where all pods are packed at once.
	domains domainOrder
	// insertion is how pods are placed one by one, base the number of
	// the insertion.
	insertion insertionStrategy
	base      int
}

// kind is what a strategy does.
type kind uint8

const (
	// pack assigns pods to domains and packs them all at once, each for itself.
	pack kind = iota
	// packBundles does so with bundles of pods that share a node, as the trials of the same
	// order of domains have shown them to be needed; packBestBundles with those of the best.
	packBundles
	packBestBundles
	// insert places pods one by one.
	insert
	// insertFailedFirst places those first that trials of the same insertion left out most
	// often, insertBestOrder in the order in which that has placed more than anything before.
	insertFailedFirst
	insertBestOrder
	// insertTargetsFirst places those first that others want near, and then as insertBestOrder.
	insertTargetsFirst
)

// The figures beside the constants are from the first 600 scenarios of tools/digests,
// planned with another value: plans that differ, and cost and pods placed of all.
const (
	// unlimited leaves the effort to Input.Effort.
	unlimited = 1 << 30
	// quickEffort is for plans that are made to see who is left out, and for packing after
	// an insertion, which has a good start. With 50 moves 15 plans differ, at the same cost; with
	// 1,000 moves 8, at 0.07 % less.
	quickEffort = 200
	// orderEffort is for the other orders of domains. With 200 moves 2 plans differ, at
	// 0.04 % more; with 20,000 moves 1, at 0.02 % less.
	orderEffort = 1000
	// maxBundleRounds is how often a plan is made again while bundles find no place. With
	// 3 rounds no plan differs, with 12 rounds 1, at the same cost.
	maxBundleRounds = 6
	// maxInsertRounds is how often the same insertion runs again while pods are left out.
	// With 2 rounds 9 pods of 18,433 less are placed, with 10 rounds no plan differs.
	maxInsertRounds = 5
	// insertions is how many ways there are to place pods one by one.
	insertions = 7
	// maxInserted is up to how many pods, and existing nodes, orders of domains beyond the
	// first and insertions are tried: they take time that grows with pods times nodes.
	// With 100, 190 pods of 18,433 less are placed.
	maxInserted = 300
)

// strategies is the list that every question is answered by, in this order. The plan
// wins that places most of the most urgent pods, then the one that costs least, then the
// one that was found first.
func strategies() []strategy {
	return []strategy{
		{"pack, spread first", options{domains: spreadFirst}, unlimited, 1, first},
		{"pack, spread first, bundled", options{kind: packBundles, domains: spreadFirst}, quickEffort, maxBundleRounds, unbundled},
		{"pack, spread first, bundled, improved", options{kind: packBestBundles, domains: spreadFirst}, unlimited, 1, roughBundles},
		{"pack, existing first", options{domains: existingFirst}, orderEffort, 1, otherDomains},
		{"pack, existing first, bundled", options{kind: packBundles, domains: existingFirst}, quickEffort, maxBundleRounds, unbundled},
		{"pack, existing first, bundled, improved", options{kind: packBestBundles, domains: existingFirst}, orderEffort, 1, roughBundles},
		{"pack, cheapest first", options{domains: cheapestFirst}, orderEffort, 1, otherDomains},
		{"pack, cheapest first, bundled", options{kind: packBundles, domains: cheapestFirst}, quickEffort, maxBundleRounds, unbundled},
		{"pack, cheapest first, bundled, improved", options{kind: packBestBundles, domains: cheapestFirst}, orderEffort, 1, roughBundles},
		{"insert, first fit", options{kind: insert}, quickEffort, 1, others},
		{"insert, best fit", options{kind: insert, base: 1, insertion: insertionStrategy{bestFit: true}}, quickEffort, 1, others},
		{"insert by size, first fit", options{kind: insert, base: 2, insertion: insertionStrategy{bySize: true}}, quickEffort, 1, others},
		{"insert by size, best fit", options{kind: insert, base: 3, insertion: insertionStrategy{bySize: true, bestFit: true}}, quickEffort, 1, others},
		{"insert unconstrained first, first fit", options{kind: insert, base: 4, insertion: insertionStrategy{unconstrainedFirst: true}}, quickEffort, 1, others},
		{"insert unconstrained first, best fit", options{kind: insert, base: 5, insertion: insertionStrategy{unconstrainedFirst: true, bestFit: true}}, quickEffort, 1, others},
		{"insert, fixed zone", options{kind: insert, base: 6, insertion: insertionStrategy{fixedZone: true}}, quickEffort, 1, others},
		{"insert, first fit, failed first", options{kind: insertFailedFirst}, quickEffort, maxInsertRounds, failed},
		{"insert, best fit, failed first", options{kind: insertFailedFirst, base: 1, insertion: insertionStrategy{bestFit: true}}, quickEffort, maxInsertRounds, failed},
		{"insert, first fit, best order", options{kind: insertBestOrder}, quickEffort, 1, inBestOrder},
		{"insert, first fit, targets first", options{kind: insertTargetsFirst}, quickEffort, 1, inBestOrder},
		{"insert, best fit, best order", options{kind: insertBestOrder, insertion: insertionStrategy{bestFit: true}}, quickEffort, 1, inBestOrder},
		{"insert, best fit, targets first", options{kind: insertTargetsFirst, insertion: insertionStrategy{bestFit: true}}, quickEffort, 1, inBestOrder},
		{"insert by size, first fit, best order", options{kind: insertBestOrder, insertion: insertionStrategy{bySize: true}}, quickEffort, 1, inBestOrder},
		{"insert by size, first fit, targets first", options{kind: insertTargetsFirst, insertion: insertionStrategy{bySize: true}}, quickEffort, 1, inBestOrder},
		{"insert by size, best fit, best order", options{kind: insertBestOrder, insertion: insertionStrategy{bySize: true, bestFit: true}}, quickEffort, 1, inBestOrder},
		{"insert by size, best fit, targets first", options{kind: insertTargetsFirst, insertion: insertionStrategy{bySize: true, bestFit: true}}, quickEffort, 1, inBestOrder},
		{"insert unconstrained first, first fit, best order", options{kind: insertBestOrder, insertion: insertionStrategy{unconstrainedFirst: true}}, quickEffort, 1, inBestOrder},
		{"insert unconstrained first, first fit, targets first", options{kind: insertTargetsFirst, insertion: insertionStrategy{unconstrainedFirst: true}}, quickEffort, 1, inBestOrder},
		{"insert unconstrained first, best fit, best order", options{kind: insertBestOrder, insertion: insertionStrategy{unconstrainedFirst: true, bestFit: true}}, quickEffort, 1, inBestOrder},
		{"insert unconstrained first, best fit, targets first", options{kind: insertTargetsFirst, insertion: insertionStrategy{unconstrainedFirst: true, bestFit: true}}, quickEffort, 1, inBestOrder},
		{"insert, fixed zone, best order", options{kind: insertBestOrder, insertion: insertionStrategy{fixedZone: true}}, quickEffort, 1, inBestOrder},
		{"insert, fixed zone, targets first", options{kind: insertTargetsFirst, insertion: insertionStrategy{fixedZone: true}}, quickEffort, 1, inBestOrder},
	}
}
