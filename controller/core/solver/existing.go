package solver

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/vec"
)

// fillHosts places pods on existing nodes, in the order of priority and size. left
// counts the pods of each class that still need a place.
func fillHosts(p *problem, hosts []host, of *domainAssignment, left []int32) {
	order := make([]int32, 0, len(p.classes))
	for i := range p.classes {
		if len(p.classes[i].reasons) == 0 {
			order = append(order, int32(i))
		}
	}
	sizes := make([]float64, len(p.classes))
	for _, i := range order {
		sizes[i] = p.size(&p.classes[i].req)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		if o := cmp.Compare(p.classes[b].priority, p.classes[a].priority); o != 0 {
			return o
		}
		return cmp.Compare(sizes[b], sizes[a])
	})
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Compare(p.classes[a].needsOthersOnHost(), p.classes[b].needsOthersOnHost())
	})
	groups := newHostBlocks(hosts)
	for _, c := range order {
		for g := range groups {
			if left[c] == 0 {
				break
			}
			if vec.Fits(&p.classes[c].req, &groups[g].maxFree, p.supply.Dims.N()) {
				left[c] -= fillHostBlock(p, &groups[g], of, c, left[c])
			}
		}
	}
}

// hostBlockSize is how many hosts are skipped at once when none of them has room.
const hostBlockSize = 32

// hostBlock is a run of hosts with the maximum of their free amounts per resource.
// from is the index of the first one.
type hostBlock struct {
	from    int
	hosts   []host
	maxFree vec.Vector
}

func newHostBlocks(hosts []host) []hostBlock {
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
		g.maxFree.Raise(&g.hosts[h].free)
	}
}

// fillHostBlock places up to n pods of a class on the hosts of a block and returns
// how many.
func fillHostBlock(p *problem, g *hostBlock, of *domainAssignment, c, n int32) int32 {
	took := int32(0)
	for h := range g.hosts {
		if took == n {
			break
		}
		if of.admits(c, g.from+h) {
			took += g.hosts[h].place(p, c, n-took, p.classes[c].terms)
		}
	}
	g.measure()
	return took
}
