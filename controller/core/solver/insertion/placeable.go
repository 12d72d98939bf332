package insertion

import (
	"slices"

	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// placeableClasses says by class whether one of its pods would have a place alone.
func placeableClasses(p *problem.Problem, hosts []problem.Host) []bool {
	out := make([]bool, len(p.Classes))
	for c := range p.Classes {
		cl := &p.Classes[c]
		out[c] = p.SomeFits(&cl.Requests, p.OffersOf(cl)) || slices.ContainsFunc(hosts, func(h problem.Host) bool {
			return vec.Fits(&cl.Requests, &h.Free, p.Supply.Dims.N()) && h.Admits(cl)
		})
	}
	return out
}
