package existing

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/domains"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// Fill places pods on existing nodes, in the order of priority and size. left
// counts the pods of each class that still need a place.
func Fill(p *problem.Problem, hosts []problem.Host, of *domains.Assignment, left []int32) {
	order := make([]int32, 0, len(p.Classes))
	for i := range p.Classes {
		if len(p.Classes[i].Reasons) == 0 {
			order = append(order, int32(i))
		}
	}
	sizes := make([]float64, len(p.Classes))
	for _, i := range order {
		sizes[i] = p.Size(&p.Classes[i].Requests)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		if o := cmp.Compare(p.Classes[b].Priority, p.Classes[a].Priority); o != 0 {
			return o
		}
		return cmp.Compare(sizes[b], sizes[a])
	})
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Compare(p.Classes[a].NeedsOthersOnHost(), p.Classes[b].NeedsOthersOnHost())
	})
	groups := newHostBlocks(hosts)
	for _, c := range order {
		for g := range groups {
			if left[c] == 0 {
				break
			}
			if vec.Fits(&p.Classes[c].Requests, &groups[g].maxFree, p.Supply.Dims.N()) {
				left[c] -= fillHostBlock(p, &groups[g], of, c, left[c])
			}
		}
	}
}

// hostBlockSize is how many hosts are skipped at once when none of them has room. The time
// of 8 and of 128 cannot be told from noise.
const hostBlockSize = 32

// hostBlock is a run of hosts with the maximum of their free amounts per resource.
// from is the index of the first one.
type hostBlock struct {
	from    int
	hosts   []problem.Host
	maxFree vec.Vector
}

func newHostBlocks(hosts []problem.Host) []hostBlock {
	var out []hostBlock
	for part := range slices.Chunk(hosts, hostBlockSize) {
		g := hostBlock{from: len(out) * hostBlockSize, hosts: part}
		g.measure()
		out = append(out, g)
	}
	return out
}

func (g *hostBlock) measure() {
	g.maxFree = vec.Vector{}
	for h := range g.hosts {
		g.maxFree.Raise(&g.hosts[h].Free)
	}
}

// fillHostBlock places up to n pods of a class on the hosts of a block and returns
// how many.
func fillHostBlock(p *problem.Problem, g *hostBlock, of *domains.Assignment, c, n int32) int32 {
	took := int32(0)
	for h := range g.hosts {
		if took == n {
			break
		}
		if of.Admits(c, g.from+h) {
			took += g.hosts[h].Place(p, c, n-took, p.Classes[c].Terms)
		}
	}
	g.measure()
	return took
}
