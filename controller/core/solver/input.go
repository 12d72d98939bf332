package solver

import (
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/effort"
	"spokeshave.dev/controller/core/solver/supply"
)

// Defaults for the fields of Input that callers rarely set.
const (
	// DefaultEffort lets the improvement reach its targets on thousands of pods.
	DefaultEffort = 20000
	// DefaultTolerance offers what costs up to 15 % more than the best.
	DefaultTolerance = 0.15
	// DefaultMaxOptions is how many options one CreateFleet call takes well.
	DefaultMaxOptions = 60
)

// What policies say of offerings, and what solves of one decision share.
type (
	// Costs are a pool's effective costs by type and offering of its catalogue.
	Costs = supply.Costs
	// Effective is what an offering costs in the eyes of the rank policies.
	Effective = supply.Effective
	// Tier is a cost in USD/hour and the new nodes for which it holds.
	Tier = supply.Tier
	// Share is what one node takes of a group of offerings.
	Share = supply.Share
	// Offerings keep what solves have lowered of catalogues and NodePools.
	Offerings = supply.Cache
)

// NewOfferings keeps nothing yet.
func NewOfferings() *Offerings { return supply.NewCache() }

// Input is the question. It is never changed by Solve.
type Input struct {
	Snapshot *model.Snapshot
	// Pods index Snapshot.Pods: the pods to place. A pod listed here takes no
	// room on the node where it is now.
	Pods []int32
	// Costs hold the effective costs by pool; nil, or a nil entry, means that
	// the billed price counts.
	Costs []supply.Costs
	// Headroom bounds what the new nodes may cost; every entry must hold.
	Headroom []model.Headroom
	// Denied are launches that a review refused.
	Denied []model.Denied
	// Blocked says, by pool, why nothing may be launched from it; nil, or a
	// nil entry, leaves the pool open.
	Blocked []*model.Reason
	// Effort bounds the improvement of each packing, in moves: a pivot is one,
	// a look at all kinds of nodes as many as it is long. 0 packs greedily.
	Effort int
	// Tolerance is the share above the best effective cost up to which
	// offerings are listed as options of a node; 0 lists those that tie.
	Tolerance float64
	// MaxOptions bounds the options of a node; 0 is DefaultMaxOptions.
	MaxOptions int
	// Offerings are shared by the solves of one decision; nil lowers catalogues and
	// NodePools for this solve alone.
	Offerings *supply.Cache
	// respectPreferences says that the preferences in the specs are to be respected.
	respectPreferences bool
	// budget counts what all plans of a solve take together.
	budget *effort.Budget
}

// Stats describe a solve, for metrics and benchmarks.
type Stats struct {
	Pods, Classes, Items, Offers, BinTypes int
	// Packings counts the times a set of items was packed: more than one when
	// tiers, limits, headroom or weights made pods try again.
	Packings int
	// Passes and Pivots are the moves made.
	Passes, Pivots int
	// Effective is the plan's cost in USD/hour, Billed the same in money.
	Effective float64
	Billed    model.Price
	// Fixed is what the new nodes cost besides their instances, by
	// Catalog.NodeCost; it is part of what a solve minimises.
	Fixed model.Price
	// Bound is the LowerBound of the plan, in USD/hour of effective cost and Fixed; 0
	// when not asked for or not known.
	Bound float64
	// Trials are the plans made, in order, of which one won.
	Trials []Trial
	// Moves is the work of all of them, in moves. Part of it are Looks, the places that
	// pods looked at while they were placed one by one.
	Moves, Looks int
}
