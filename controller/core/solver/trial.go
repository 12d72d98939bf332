package solver

import "spokeshave.dev/controller/core/solver/commit"

// Trial is one plan that Solve made: by which strategy, why, with what effort, and
// with what result. Trials explain how a plan was found; they do not influence it.
type Trial struct {
	// Strategy is the name of the strategy. Question is the name of its question:
	// which preferences counted as requirements.
	Strategy, Question string
	// Why is the condition for which the strategy was run.
	Why string
	// Effort bounds the improvement of each of its packings, in moves. Moves is the
	// work that it took, as package effort counts it.
	Effort, Moves int
	// Unplaced is how many of the question's pods are left out. Cost is what its new
	// nodes cost in USD/hour: effective cost and Catalog.NodeCost.
	Unplaced int
	Cost     float64
	// Modes are the modes that were tried; nil when that was only one.
	Modes []commit.ModeTrial
	// Dropped says why the strategy made no plan; "" when it made one.
	Dropped string
	// Won marks the trial whose plan is the result. A solve has exactly one, and one more
	// of the questions about "the rest" where pods of a large cluster were planned in a
	// second step.
	Won bool
}

// ModeTrial is one attempt of a trial, in one mode.
type ModeTrial = commit.ModeTrial
