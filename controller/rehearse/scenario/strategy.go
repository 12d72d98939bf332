package scenario

import "spokeshave.dev/controller/core/solver"

// ReportStrategy is one plan that the solver made before it chose the best, and how it
// made it.
type ReportStrategy struct {
	Strategy string `json:"strategy"`
	// Question says which preferences of pods were taken as requirements.
	Question string `json:"question"`
	Why      string `json:"why"`
	// Effort bounds the improvement of each packing, Moves is the work that was done. Both
	// are in moves, about as much as one pivot of a linear program.
	Effort int `json:"effort"`
	Moves  int `json:"moves"`
	// Unplaced is the number of pods without a place. Cost is that of the new nodes:
	// effective cost, volumes and addresses.
	Unplaced int     `json:"unplaced"`
	Cost     float64 `json:"cost"`
	// Modes are the ways of using scarce limits, caps and reservations that were tried.
	// It is empty when that was only one.
	Modes []ReportMode `json:"modes,omitempty"`
	// Dropped is why the strategy gave no plan.
	Dropped string `json:"dropped,omitempty"`
	Won     bool   `json:"won"`
}

// ReportMode is one way of using scarce limits, caps and reservations.
type ReportMode struct {
	Mode     string  `json:"mode"`
	Moves    int     `json:"moves"`
	Unplaced int     `json:"unplaced"`
	Cost     float64 `json:"cost"`
	Won      bool    `json:"won"`
}

func strategies(trials []solver.Trial) []ReportStrategy {
	out := make([]ReportStrategy, len(trials))
	for i := range trials {
		t := &trials[i]
		out[i] = ReportStrategy{
			Strategy: t.Strategy, Question: t.Question, Why: t.Why, Effort: t.Effort, Moves: t.Moves,
			Unplaced: t.Unplaced, Cost: round(t.Cost), Dropped: t.Dropped, Won: t.Won,
		}
		for _, m := range t.Modes {
			out[i].Modes = append(out[i].Modes, ReportMode{Mode: m.Name, Moves: m.Moves, Unplaced: m.Unplaced, Cost: round(m.Cost), Won: m.Won})
		}
	}
	return out
}
