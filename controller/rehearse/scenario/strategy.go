package scenario

import "spokeshave.dev/controller/core/solver"

// ReportStrategy is a plan that was made on the way to the best, and how.
type ReportStrategy struct {
	Strategy string `json:"strategy"`
	// Question says which preferences of pods were taken as requirements.
	Question string `json:"question"`
	Why      string `json:"why"`
	// Effort bounds the improvement of each packing, Moves is the work that was done. Both
	// are in moves, about as much as one pivot of a linear program.
	Effort int `json:"effort"`
	Moves  int `json:"moves"`
	// Unplaced counts the pods without a place, Cost is that of the new nodes: effective
	// cost, volumes and addresses.
	Unplaced int     `json:"unplaced"`
	Cost     float64 `json:"cost"`
	// Modes are the ways of spending limits, caps and reservations that were tried; left
	// out where the first was enough.
	Modes []ReportMode `json:"modes,omitempty"`
	// Dropped says why no plan came of it.
	Dropped string `json:"dropped,omitempty"`
	Won     bool   `json:"won"`
}

// ReportMode is one way of spending what is scarce.
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
