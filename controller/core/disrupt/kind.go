package disrupt

// Kind sorts what keeps a node, for those who tell of it.
type Kind uint8

// The kinds.
const (
	// Waits is what passes by itself, and is no news.
	Waits Kind = iota
	// Forbidden: an annotation, a disruption budget of pods, a policy, a zonal
	// shift or a lack of room keeps the node.
	Forbidden
	// OverBudget: the budgets of its NodePool let no more nodes go now.
	OverBudget
	// Pointless: nothing is gained without the node, or its NodePool does not
	// ask for it.
	Pointless
	// Unworthy: what is saved is too little for what is disturbed, under
	// consolidationPolicy Balanced.
	Unworthy
)

// Finding is why the search leaves a node where it is.
type Finding struct {
	Kind   Kind
	Reason string
}

// What the search finds of a single node.
const (
	nothingCheaper = "no cheaper place was found for its pods"
	noPlace        = "its pods would not all find another place"
	uncertain      = "its pods would fit elsewhere only if the scheduler put every one where it is planned"
	spotOff        = "only another spot node would be cheaper, and feature gate SpotToSpotConsolidation is off"
	spotFew        = "too few cheaper spot instance types could replace it"
	minValuesLost  = "what is cheaper does not keep minValues of its NodePool"
)

// Found is what the last search found of a node that it did not propose.
func (sc *Scene) Found(node int32) Finding {
	if f, ok := sc.findings[node]; ok {
		return f
	}
	return Finding{Pointless, nothingCheaper}
}

// record remembers a finding about a single node; of several nodes together it
// says nothing about each.
func (sc *Scene) record(nodes []int32, kind Kind, reason string) {
	if len(nodes) != 1 {
		return
	}
	if sc.findings == nil {
		sc.findings = map[int32]Finding{}
	}
	sc.findings[nodes[0]] = Finding{kind, reason}
}
