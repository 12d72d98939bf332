package supply

// Costs are a pool's effective costs by type and offering of its catalogue:
// Costs[t][o] belongs to Catalog.Types[t].Offerings[o].
type Costs [][]Effective

// Effective is what an offering costs in the eyes of the rank policies. The
// zero value is the billed price, for any number of nodes.
type Effective struct {
	// Tiers apply in order: the first one that has room for one more node
	// counts, and where none has, the billed price.
	Tiers []Tier
	// Excluded drops the offering; Policy and Reason say who and why.
	Excluded bool
	Policy   string
	Reason   string
}

// Tier is a cost in USD/hour and the new nodes for which it holds.
type Tier struct {
	// Until bounds the new nodes of the offering, counted from the first, at
	// whatever cost they came; 0 is any number.
	Until uint32
	Cost  float64
	// Shares are taken of groups that offerings use up together.
	Shares []Share
}

// Share is what one node takes of a group. A tier has room while the sum of
// what the nodes at its cost have taken, and would take, is at most 1.
type Share struct {
	// Group is any number that the offerings of a group have in common.
	Group int32
	Part  float64
}
