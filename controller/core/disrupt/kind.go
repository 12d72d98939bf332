package disrupt

// Kind classifies why a node is kept, for metrics and events.
type Kind uint8

// The kinds.
const (
	// Waiting means that the reason ends by itself. It is not reported in events.
	Waiting Kind = iota
	// Blocked means that an annotation, a PodDisruptionBudget, a policy, a zonal
	// shift or a lack of capacity keeps the node.
	Blocked
	// OverBudget means that the NodePool's budgets allow no more disruptions now.
	OverBudget
	// NoSaving means that removing the node saves nothing, or that its NodePool's
	// settings exclude it.
	NoSaving
	// SavingTooSmall means that the saving is too small for what the moves of the pods cost, or
	// for the disruption under consolidationPolicy Balanced.
	SavingTooSmall
)

// Finding is why the search keeps a node.
type Finding struct {
	Kind   Kind
	Reason string
}

// ReasonUncertain is the reason for keeping a single node whose pods fit elsewhere in the
// plan, and too seldom where else the scheduler may place them.
const ReasonUncertain = "its pods would fit elsewhere only if the scheduler put every one where it is planned"

// The other reasons that the search gives for keeping a single node.
const (
	nothingCheaper = "no cheaper place was found for its pods"
	noPlace        = "its pods would not all find another place"
	spotOff        = "only another spot node would be cheaper, and feature gate SpotToSpotConsolidation is off"
	spotFew        = "too few cheaper spot instance types could replace it"
	minValuesLost  = "what is cheaper does not keep minValues of its NodePool"
)

// Found returns the last search's finding about a node that it did not propose.
func (sc *Projection) Found(node int32) Finding {
	if f, ok := sc.findings[node]; ok {
		return f
	}
	return Finding{NoSaving, nothingCheaper}
}

// record stores a finding about a single node. A finding about several nodes
// together does not apply to each of them and is not stored.
func (sc *Projection) record(nodes []int32, kind Kind, reason string) {
	if len(nodes) != 1 {
		return
	}
	if sc.findings == nil {
		sc.findings = map[int32]Finding{}
	}
	sc.findings[nodes[0]] = Finding{kind, reason}
}
