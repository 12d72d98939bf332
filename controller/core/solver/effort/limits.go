package effort

// Before there were limits, 300 pods of as many specs on 299 nodes took 18 s of
// processor time and 937 pods with preferences 7 s; with these, no random input of up to
// 1,000 pods took more than 2.4 s. Half and twice their values change no plan for inputs
// whose constraints can be met (docs/measurements/solver.md).
const (
	// Allowance is the limit in moves of a solve of up to 1,000 pods. Larger solves
	// have as many times more as they have thousands of pods.
	Allowance = 50_000
	// LooksOnce is how many places one pass over all pods looks at before pods that
	// were left out by an earlier pass are no longer tried again after each other pod.
	LooksOnce = 1_000_000
	// AllLooks is how many places are looked at before no more passes are begun over
	// pods that were left out.
	AllLooks = 8_000_000
)

// What other work is worth a move. Half and twice the values change no plan
// (docs/measurements/solver.md).
const (
	// fillsInMove is how many bin types are looked at for an item in the time of a move.
	fillsInMove = 64
	// pairsInMove is how many hosts, or how many other classes, are looked at for a class.
	pairsInMove = 128
	// EnlargedInMove is how many planned nodes are looked at whether they could be larger.
	EnlargedInMove = 16
	// LooksInMove is how many places are looked at: both allowances are for about the
	// same time.
	LooksInMove = AllLooks / Allowance
)
