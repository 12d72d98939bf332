package solver

import "spokeshave.dev/controller/core/solver/effort"

// trialLog is everything that one solve tries, under one budget of effort.
type trialLog struct {
	budget *effort.Budget
	trials []Trial
	// before is what the budget had spent when the last trial was begun.
	before int
}

// begin notes a trial before it runs.
func (l *trialLog) begin(t Trial) {
	l.before = l.budget.Work()
	l.trials = append(l.trials, t)
}

// end notes what the trial that was begun last has reached, and makes its plan known as
// the trial's.
func (l *trialLog) end(o *outcome) {
	t := &l.trials[len(l.trials)-1]
	t.Moves = l.budget.Work() - l.before
	t.Unplaced, t.Cost = len(o.Unplaced), o.cost()
	o.trial = len(l.trials) - 1
}

// modes notes in which modes the packing of the last trial was attempted.
func (l *trialLog) modes(tried []ModeTrial) {
	if len(tried) > 1 {
		l.trials[len(l.trials)-1].Modes = tried
	}
}

// drop notes that the trial that was begun last made no plan.
func (l *trialLog) drop(why string) {
	t := &l.trials[len(l.trials)-1]
	t.Moves, t.Dropped = l.budget.Work()-l.before, why
}
