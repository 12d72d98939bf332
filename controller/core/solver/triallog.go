package solver

import (
	"spokeshave.dev/controller/core/solver/commit"
	"spokeshave.dev/controller/core/solver/effort"
)

// trialLog records all trials of one solve and their common budget of effort.
type trialLog struct {
	budget *effort.Budget
	trials []Trial
	// question begins the name of every question from now on.
	question string
	// before is what the budget had spent when the last trial began.
	before int
}

// begin records a trial, before its work is added to the budget.
func (l *trialLog) begin(t Trial) {
	l.before = l.budget.Total()
	t.Question = l.question + t.Question
	l.trials = append(l.trials, t)
}

// end records the result of the last trial, and the trial's index in its plan.
func (l *trialLog) end(o *outcome) {
	t := &l.trials[len(l.trials)-1]
	t.Moves = l.budget.Total() - l.before
	t.Unplaced, t.Cost = len(o.Unplaced), o.cost()
	o.trial = len(l.trials) - 1
}

// modes records the modes of the last trial, when there were several.
func (l *trialLog) modes(tried []commit.ModeTrial) {
	if len(tried) > 1 {
		l.trials[len(l.trials)-1].Modes = tried
	}
}

// drop records that the last trial made no plan, and why.
func (l *trialLog) drop(why string) {
	t := &l.trials[len(l.trials)-1]
	t.Moves, t.Dropped = l.budget.Total()-l.before, why
}
