package solver

import (
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/commit"
	"spokeshave.dev/controller/core/solver/effort"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
)

// Defaults for the fields of Input that callers rarely set.
const (
	// DefaultEffort, in moves, is enough for thousands of pods.
	DefaultEffort = 20000
	// DefaultTolerance lists options that cost up to 15 % more than the best.
	DefaultTolerance = 0.15
	// DefaultSpotTolerance lists spot options that cost up to twice as much: what EC2
	// launches should come from pools that have capacity (ADR 80).
	DefaultSpotTolerance = 1
	// DefaultMaxOptions is a number of options that one CreateFleet call supports.
	DefaultMaxOptions = 60
)

// Types for the answers of rank policies and for data shared by the solves of a
// decision.
type (
	// Costs are a pool's effective costs by type and offering of its catalogue.
	Costs = supply.Costs
	// Effective is an offering's cost after the rank policies.
	Effective = supply.Effective
	// Tier is a cost in USD/hour and the number of new nodes for which it holds.
	Tier = supply.Tier
	// Share is the fraction of a group of offerings that one node uses.
	Share = supply.Share
	// Offerings caches the catalogues and NodePools as the solver represents them.
	Offerings = supply.Cache
)

// NewOfferings returns an empty cache.
func NewOfferings() *Offerings { return supply.NewCache() }

// Input is the question. Solve does not change it.
//
// Size: the question as a caller asks it, and what all plans of one solve share.
type Input struct {
	Snapshot *model.Snapshot
	// Pods index Snapshot.Pods: the pods to place. A pod listed here does not use
	// the node that it is on now.
	Pods []int32
	// Costs are the effective costs by pool. Where Costs or an entry is nil, the
	// billed price is the cost.
	Costs []supply.Costs
	// Headroom limits what the new nodes may cost. Every entry must hold.
	Headroom []model.Headroom
	// Denied are the offerings that a ceiling policy refused in a review.
	Denied []model.Denied
	// Blocked says, by pool, why nothing may be launched from it. Nil, or a nil
	// entry, allows launches.
	Blocked []*model.Reason
	// Effort bounds the improvement of each packing, in moves: a pivot is one move,
	// a pass over all bin types as many as there are. 0 packs greedily.
	Effort int
	// Candidate is set when the plan is one of many that are compared, as in a search for
	// consolidations. It is made without ruin and recreate, which can take half the time of
	// such a search (ADR 100).
	Candidate bool
	// Tolerance is the share above the best effective cost up to which offerings are
	// options of a node; 0 admits only offerings of equal cost.
	Tolerance float64
	// SpotTolerance is Tolerance for spot offerings of a node on spot, where that is more.
	// Nodes whose options a headroom, minValues or tiers bound keep to Tolerance.
	SpotTolerance float64
	// MaxOptions bounds the options of a node; 0 is DefaultMaxOptions.
	MaxOptions int
	// Offerings is shared by the solves of one decision. With nil, the catalogues
	// and NodePools are prepared for this solve alone.
	Offerings *supply.Cache
	// respectPreferences is set when the preferences in the specs count.
	respectPreferences bool
	// budget counts the work of all plans of a solve. looks bounds how many places pods
	// look at, instead of effort.AllLooks, in a cluster of any size; 0 leaves that.
	budget *effort.Budget
	looks  int
	// work counts what is done now: it is part of the budget, or added to it later.
	work *effort.Work
	// admissions are those of the question.
	admissions *problem.Admissions
}

// problem returns what a problem with the given specs, which have no preferences, is
// made of.
func (in *Input) problem(required []model.PodSpec) *problem.Input {
	return &problem.Input{
		Supply:   supply.Question{Snapshot: in.Snapshot, Costs: in.Costs, Denied: in.Denied, Blocked: in.Blocked},
		Prepared: in.Offerings, Pods: in.Pods, Required: required, RespectPreferences: in.respectPreferences, Admissions: in.admissions,
	}
}

// options returns the bounds of the plans that are made for the input.
func (in *Input) options() commit.Options {
	o := commit.Options{Headroom: in.Headroom, Effort: in.Effort, Tolerance: in.Tolerance, MaxOptions: in.MaxOptions, Work: in.work}
	if o.MaxOptions <= 0 {
		o.MaxOptions = DefaultMaxOptions
	}
	return o
}

// Stats describe a solve, for metrics and benchmarks.
//
// Size: one field for each figure.
type Stats struct {
	Pods, Classes, Items, Offers, BinTypes int
	// Packings counts how often a set of items was packed: more than once when
	// tiers, limits, headroom or weights left pods for another round.
	Packings int
	// Passes and Pivots are the numbers of these moves.
	Passes, Pivots int
	// Effective is the plan's cost in USD/hour, Billed its hourly price.
	Effective float64
	Billed    model.Price
	// Fixed is what the new nodes cost besides their instances, from
	// Catalog.NodeCost. Solve minimises Effective and Fixed together.
	Fixed model.Price
	// Bound is the LowerBound of the plan, in USD/hour of Effective and Fixed; 0
	// when not requested or not known.
	Bound float64
	// Waived is how many pods the plan does not grant all of their preferences.
	Waived int
	// Trials are the plans made, in order. One of them is the result.
	Trials []Trial
	// Moves is the work of all trials, in moves. Looks is the part of it that went
	// into examining places when pods were placed one by one.
	Moves, Looks int
}
