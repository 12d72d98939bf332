package check

import "spokeshave.dev/controller/core/model"

// Berth judges as what else a planned node could have been launched.
type Berth struct {
	v    verifier
	load load
}

// NewBerth looks at the node's pods once.
func NewBerth(s *model.Snapshot, n *model.PlannedNode) *Berth {
	b := &Berth{v: verifier{s: s, nodes: map[launch]*blueprint{}}}
	b.load = load{node: n, specs: b.v.specs(n.Pods), sum: model.Resources{}}
	for _, spec := range b.load.specs {
		demand(b.load.sum, spec)
	}
	return b
}

// Holds says whether an option is sold, is what the NodePool and the pods ask for,
// and has room for all of them. Topology, limits and caps are not looked at.
func (b *Berth) Holds(o model.Option) bool {
	b.v.found = nil
	b.v.option("", &b.load, o)
	return len(b.v.found) == 0
}
