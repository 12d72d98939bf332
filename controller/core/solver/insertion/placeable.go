package insertion

import (
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// placeableClasses says by class whether one of its pods would have a place alone.
func placeableClasses(p *problem.Problem, hosts []problem.Host) []bool {
	out := make([]bool, len(p.Classes))
	for c := range p.Classes {
		cl := &p.Classes[c]
		out[c] = p.SomeFits(&cl.Requests, p.OffersOf(cl))
		for h := 0; h < len(hosts) && !out[c]; h++ {
			out[c] = vec.Fits(&cl.Requests, &hosts[h].Free, p.Supply.Dims.N()) && hosts[h].Admits(cl)
		}
	}
	return out
}
