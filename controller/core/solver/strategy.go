package solver

import (
	"spokeshave.dev/controller/core/solver/domains"
	"spokeshave.dev/controller/core/solver/insertion"
)

// strategy is one way to plan the pods of a question.
type strategy struct {
	// name identifies the strategy in Stats.Trials.
	name    string
	options options
	// effort bounds the improvement of each packing, in moves, together with
	// Input.Effort.
	effort int
	// next returns why the strategy should run now; "" when it should not. It prepares the
	// next round of a strategy that has several.
	next func(*search, *strategy) string
}

// stage is a number of strategies that do not see each other's results, and so run at the
// same time. A stage of a strategy that packs all pods at once has only that one.
type stage struct {
	// rounds is how many times in succession the stage may run.
	rounds     int
	strategies []strategy
}

// options are the parameters of a strategy.
type options struct {
	kind kind
	// domains is the order of domains, for strategies that pack all pods at once.
	domains domains.Order
	// insertion is how pods are placed one by one. base is the index of the
	// insertion strategy, and of that whose failures are shared.
	insertion insertion.Strategy
	base      int
}

// kind is the procedure of a strategy.
type kind uint8

const (
	// pack assigns pods to domains and packs them all at once, without bundles.
	pack kind = iota
	// packImproved does the same once more, with effort.
	packImproved
	// packBundles does the same with the bundles that earlier trials of the same
	// order of domains have shown to be needed. packBestBundles uses the bundles of
	// the best of these trials.
	packBundles
	packBestBundles
	// insert places pods one by one.
	insert
	// insertFailedFirst first places the classes that earlier trials of the same
	// insertion left out most often. insertBestOrder uses the order that has placed
	// more pods than any earlier plan.
	insertFailedFirst
	insertBestOrder
	// insertTargetsFirst first places the pods that the affinity of failed classes
	// selects, and then continues as insertBestOrder.
	insertTargetsFirst
)

// The figures in these comments come from planning the first 600 scenarios of
// tools/digests with another value. They give the number of plans that differ, and
// the change of the total cost or of the pods placed.
const (
	// unlimited leaves the bound to Input.Effort.
	unlimited = 1 << 30
	// quickEffort is for plans that only show which pods are left out, and for
	// packing after an insertion, which gives a good start. With 50 moves 15 plans
	// differ, at the same cost; with 1,000 moves 8 differ, at 0.07 % lower cost.
	quickEffort = 200
	// orderEffort is for the other orders of domains. With 200 moves 2 plans differ,
	// at 0.04 % higher cost; with 20,000 moves 1 differs, at 0.02 % lower cost.
	orderEffort = 1000
	// lostBy: where packing all pods at once leaves out more pods than insertion, by a
	// twentieth of them, constraints between pods are in the way, and packing is not
	// improved on questions with fewer preferences.
	lostBy = 20
	// repackedFirst is how many insertions are packed again before it is known whether that helps.
	repackedFirst = 2
	// maxBundleRounds is how many times a plan is made again while bundles find no
	// place. With 3 rounds no plan differs; with 12 rounds 1 differs, at the same
	// cost.
	maxBundleRounds = 6
	// maxInsertRounds is how many times the same insertion runs again while pods are
	// left out. With 2 rounds 9 of 18,433 pods fewer are placed; with 10 rounds no
	// plan differs.
	maxInsertRounds = 5
	// insertions is the number of insertion strategies.
	insertions = 12
	// maxInserted is the largest number of pods, and of existing nodes, for which
	// further orders of domains and insertions are tried in any case: their time grows
	// with pods times nodes. Above it they are tried while pods with constraints on each
	// other are left out and the budget allows them. With 100, 190 of 18,433 pods fewer
	// are placed.
	maxInserted = 300
)

// stages returns the strategies in the order in which they run on a question.
// The best plan is the one that places the most of the most urgent pods, then the
// one with the lowest cost, then the one found first.
func stages() []stage {
	return []stage{
		{1, []strategy{{"pack, spread first", options{domains: domains.SpreadFirst}, unlimited, first}}},
		{1, []strategy{
			{"insert, first fit", options{kind: insert}, quickEffort, others},
			{"insert, best fit", options{kind: insert, base: 1, insertion: insertion.Strategy{BestFit: true}}, quickEffort, others},
			{"insert by size, first fit", options{kind: insert, base: 2, insertion: insertion.Strategy{BySize: true}}, quickEffort, others},
			{"insert by size, best fit", options{kind: insert, base: 3, insertion: insertion.Strategy{BySize: true, BestFit: true}}, quickEffort, others},
			{"insert unconstrained first, first fit", options{kind: insert, base: 4, insertion: insertion.Strategy{UnconstrainedFirst: true}}, quickEffort, others},
			{"insert unconstrained first, best fit", options{kind: insert, base: 5, insertion: insertion.Strategy{UnconstrainedFirst: true, BestFit: true}}, quickEffort, others},
			{"insert, fixed zone", options{kind: insert, base: 6, insertion: insertion.Strategy{FixedZone: true, DeferredSpread: true}}, quickEffort, others},
			{"insert small first, first fit", options{kind: insert, base: 7, insertion: insertion.Strategy{SmallFirst: true}}, quickEffort, stillLeftOut},
			{"insert, fewest pods first", options{kind: insert, base: 8, insertion: insertion.Strategy{FewestFirst: true}}, quickEffort, stillLeftOut},
		}},
		{1, []strategy{{"pack, spread first, improved", options{kind: packImproved, domains: domains.SpreadFirst}, unlimited, roughFirst}}},
		{maxBundleRounds, []strategy{{"pack, spread first, bundled", options{kind: packBundles, domains: domains.SpreadFirst}, quickEffort, unbundled}}},
		{1, []strategy{{"pack, spread first, bundled, improved", options{kind: packBestBundles, domains: domains.SpreadFirst}, unlimited, roughBundles}}},
		{1, []strategy{{"pack, existing first", options{domains: domains.ExistingFirst}, orderEffort, otherDomains}}},
		{maxBundleRounds, []strategy{{"pack, existing first, bundled", options{kind: packBundles, domains: domains.ExistingFirst}, quickEffort, unbundled}}},
		{1, []strategy{{"pack, existing first, bundled, improved", options{kind: packBestBundles, domains: domains.ExistingFirst}, orderEffort, roughBundles}}},
		{1, []strategy{{"pack, cheapest first", options{domains: domains.CheapestFirst}, orderEffort, otherDomains}}},
		{maxBundleRounds, []strategy{{"pack, cheapest first, bundled", options{kind: packBundles, domains: domains.CheapestFirst}, quickEffort, unbundled}}},
		{1, []strategy{{"pack, cheapest first, bundled, improved", options{kind: packBestBundles, domains: domains.CheapestFirst}, orderEffort, roughBundles}}},
		{maxInsertRounds, []strategy{
			{"insert, first fit, failed first", options{kind: insertFailedFirst}, quickEffort, failed},
			{"insert, best fit, failed first", options{kind: insertFailedFirst, base: 1, insertion: insertion.Strategy{BestFit: true}}, quickEffort, failed},
		}},
		{1, []strategy{
			{"insert, first fit, best order", options{kind: insertBestOrder}, quickEffort, inBestOrder},
			{"insert, first fit, targets first", options{kind: insertTargetsFirst}, quickEffort, inBestOrder},
			{"insert, best fit, best order", options{kind: insertBestOrder, base: 1, insertion: insertion.Strategy{BestFit: true}}, quickEffort, inBestOrder},
			{"insert, best fit, targets first", options{kind: insertTargetsFirst, base: 1, insertion: insertion.Strategy{BestFit: true}}, quickEffort, inBestOrder},
			{"insert by size, first fit, best order", options{kind: insertBestOrder, base: 2, insertion: insertion.Strategy{BySize: true}}, quickEffort, inBestOrder},
			{"insert by size, first fit, targets first", options{kind: insertTargetsFirst, base: 2, insertion: insertion.Strategy{BySize: true}}, quickEffort, inBestOrder},
			{"insert by size, best fit, best order", options{kind: insertBestOrder, base: 3, insertion: insertion.Strategy{BySize: true, BestFit: true}}, quickEffort, inBestOrder},
			{"insert by size, best fit, targets first", options{kind: insertTargetsFirst, base: 3, insertion: insertion.Strategy{BySize: true, BestFit: true}}, quickEffort, inBestOrder},
			{"insert unconstrained first, first fit, best order", options{kind: insertBestOrder, base: 4, insertion: insertion.Strategy{UnconstrainedFirst: true}}, quickEffort, inBestOrder},
			{"insert unconstrained first, first fit, targets first", options{kind: insertTargetsFirst, base: 4, insertion: insertion.Strategy{UnconstrainedFirst: true}}, quickEffort, inBestOrder},
			{"insert unconstrained first, best fit, best order", options{kind: insertBestOrder, base: 5, insertion: insertion.Strategy{UnconstrainedFirst: true, BestFit: true}}, quickEffort, inBestOrder},
			{"insert unconstrained first, best fit, targets first", options{kind: insertTargetsFirst, base: 5, insertion: insertion.Strategy{UnconstrainedFirst: true, BestFit: true}}, quickEffort, inBestOrder},
			{"insert, fixed zone, best order", options{kind: insertBestOrder, base: 6, insertion: insertion.Strategy{FixedZone: true, DeferredSpread: true}}, quickEffort, inBestOrder},
			{"insert, fixed zone, targets first", options{kind: insertTargetsFirst, base: 6, insertion: insertion.Strategy{FixedZone: true, DeferredSpread: true}}, quickEffort, inBestOrder},
		}},
		{1, []strategy{
			{"insert, most useful place", options{kind: insert, base: 11, insertion: insertion.Strategy{MostUseful: true}}, quickEffort, leftOutForGood},
			{"insert by priority, first fit", options{kind: insert, base: 9, insertion: insertion.Strategy{ByPriority: true}}, quickEffort, lessUrgentPlaced},
			{"insert by priority, small first", options{kind: insert, base: 10, insertion: insertion.Strategy{ByPriority: true, SmallFirst: true}}, quickEffort, lessUrgentPlaced},
		}},
	}
}
