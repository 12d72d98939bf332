package solver

// Trial is one plan that Solve made on its way to the best: by which strategy,
// why, at what effort, and what it reached. Trials say how a plan came about;
// they have no part in it.
type Trial struct {
	// Strategy is the name of the strategy, Question that of what it was asked
	// for: which preferences were taken as requirements.
	Strategy, Question string
	// Why is what made the strategy worth trying.
	Why string
	// Effort is the bound on the improvement of each of its packings, in moves;
	// Moves is the work that it took, as package effort counts it.
	Effort, Moves int
	// Unplaced is how many of the pods that it was asked for are left out, Cost what
	// its new nodes cost in USD/hour: effective cost and Catalog.NodeCost.
	Unplaced int
	Cost     float64
	// Modes are the ways of spending what is scarce that were tried; nil where the first
	// was enough.
	Modes []ModeTrial
	// Dropped says why the strategy made no plan; "" when it made one.
	Dropped string
	// Won marks the trial whose plan is the answer: exactly one of a solve.
	Won bool
}

// ModeTrial is one way of spending limits, headroom and reservations within a trial. The
// pods of a trial are assigned to domains and existing nodes once for all of its modes.
type ModeTrial struct {
	Name string
	// Moves, Unplaced and Cost are as in Trial, before pods are taken back that relied
	// on others without a place.
	Moves, Unplaced int
	Cost            float64
	Won             bool
}
