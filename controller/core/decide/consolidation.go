package decide

import "spokeshave.dev/controller/core/model"

// Consolidation is a consolidation that a decision carries out.
type Consolidation struct {
	// Key is the same in each decision that carries it out, until its nodes are gone.
	Key    string
	Method Method
	// Nodes are indexes of the snapshot.
	Nodes []int32
	// Savings is the hourly price of the nodes less that of their replacements.
	Savings model.Price
}

// Consolidations are those that the decision carries out: empty nodes that are deleted,
// and commands whose nodes are. Replacements of drifted nodes save nothing and are none.
func (d *Decision) Consolidations(s *model.Snapshot) []Consolidation {
	var out []Consolidation
	for i := range d.Disruptions {
		if e := &d.Disruptions[i]; e.Go && e.Method == MethodEmpty {
			n := &s.Nodes[e.Node]
			out = append(out, Consolidation{Key: "claim " + n.Claim, Method: e.Method, Nodes: []int32{e.Node}, Savings: n.Cost()})
		}
	}
	for i := range d.Commands {
		if c := &d.Commands[i]; c.Stage == Finish && (c.Method == MethodEmpty || c.Method == MethodUnderutilized) {
			out = append(out, Consolidation{Key: "command " + c.ID, Method: c.Method, Nodes: c.Nodes, Savings: c.Savings})
		}
	}
	return out
}
