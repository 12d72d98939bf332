package savings

import (
	"cmp"
	"math"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// move is a command: nodes go, their pods move, one node may come.
type move struct {
	nodes []int32
	// to is by pod its new node, -1 for the one that comes.
	to  map[int32]int32
	typ *model.InstanceType
	in  string // zone
}

// firstMany is how many candidates the peer looks at together.
const firstMany = 100

// peer is the next command of the peer's method; nil when it finds none.
func peer(c *cluster) *move {
	order := candidates(c)
	var empty []int32
	for _, i := range order {
		if len(c.on(i)) == 0 {
			empty = append(empty, i)
		}
	}
	if len(empty) > 0 {
		return &move{nodes: empty}
	}
	if m := several(c, order[:min(len(order), firstMany)]); m != nil {
		return m
	}
	for _, i := range order {
		if m := c.consolidate([]int32{i}); m != nil {
			return m
		}
	}
	return nil
}

// candidates are the nodes that may go, those that cost least to disrupt first.
func candidates(c *cluster) []int32 {
	var out []int32
	costs := map[int32]float64{}
	for i := range c.Nodes {
		held := false
		for _, p := range c.on(int32(i)) {
			held = held || c.Pods[p].DoNotDisrupt
			spec := &c.Specs[c.Pods[p].Spec]
			costs[int32(i)] += math.Min(10, math.Max(-10, 1+float64(c.Pods[p].DeletionCost)/math.Pow(2, 27)+float64(spec.Priority)/math.Pow(2, 25)))
		}
		if !held {
			out = append(out, int32(i))
		}
	}
	slices.SortStableFunc(out, func(a, b int32) int { return cmp.Compare(costs[a], costs[b]) })
	return out
}

// several bisects for the longest prefix that can go together.
func several(c *cluster, order []int32) *move {
	var best *move
	low, high := 2, len(order)
	for low <= high {
		middle := (low + high) / 2
		if m := c.consolidate(order[:middle]); m != nil {
			best, low = m, middle+1
		} else {
			high = middle - 1
		}
	}
	return best
}

// on lists a node's pods.
func (c *cluster) on(node int32) []int32 {
	var out []int32
	for i := range c.Pods {
		if c.Pods[i].Node == node {
			out = append(out, int32(i))
		}
	}
	return out
}

// consolidate finds places for the pods of some nodes, largest first: on the
// first of the others that has room, and what is left over on one new node
// that is cheaper than all that go.
func (c *cluster) consolidate(nodes []int32) *move {
	m := &move{nodes: slices.Clone(nodes), to: map[int32]int32{}}
	free := c.free()
	var pods, left []int32
	var price model.Price
	for _, i := range nodes {
		pods = append(pods, c.on(i)...)
		price += c.Nodes[i].Price
	}
	slices.SortStableFunc(pods, func(a, b int32) int {
		x, y := c.Specs[c.Pods[a].Spec].Requests, c.Specs[c.Pods[b].Spec].Requests
		return cmp.Or(cmp.Compare(y[model.CPU], x[model.CPU]), cmp.Compare(y[model.Memory], x[model.Memory]))
	})
	for _, p := range pods {
		spec := &c.Specs[c.Pods[p].Spec]
		at := -1
		for i := range c.Nodes {
			if !slices.Contains(nodes, int32(i)) && room(free[i], spec.Requests) && selects(spec, &c.Nodes[i]) {
				at = i
				break
			}
		}
		if at < 0 {
			left = append(left, p)
			m.to[p] = -1
			continue
		}
		m.to[p] = int32(at)
		take(free[at], spec.Requests)
	}
	if len(left) == 0 {
		return m
	}
	if m.typ, m.in = c.single(left, c.barrier(nodes, price)); m.typ == nil {
		return nil
	}
	return m
}

// barrier is what a replacement has to cost less than: the nodes that go, and
// when these are several, any of them of its own type.
func (c *cluster) barrier(nodes []int32, price model.Price) func(string) model.Price {
	return func(name string) model.Price {
		most := price
		for _, i := range nodes {
			if len(nodes) > 1 && c.Nodes[i].InstanceType == name {
				most = min(most, c.Nodes[i].Price)
			}
		}
		return most
	}
}

// single is the cheapest node that takes all the pods, below the barrier.
func (c *cluster) single(pods []int32, below func(string) model.Price) (typ *model.InstanceType, zone string) {
	sum := model.Resources{}
	for _, p := range pods {
		sum.Add(c.Specs[c.Pods[p].Spec].Requests)
	}
	best := model.Price(math.MaxInt64)
	types := c.Catalogs[0].Types
	for t := range types {
		if !room(types[t].Allocatable, sum) {
			continue
		}
		for _, o := range types[t].Offerings {
			n := model.Node{Labels: map[string]string{"topology.kubernetes.io/zone": o.Zone}}
			fits := !slices.ContainsFunc(pods, func(p int32) bool { return !selects(&c.Specs[c.Pods[p].Spec], &n) })
			if fits && o.Available && o.Price < best && o.Price < below(types[t].Name) {
				best, typ, zone = o.Price, &types[t], o.Zone
			}
		}
	}
	return typ, zone
}
