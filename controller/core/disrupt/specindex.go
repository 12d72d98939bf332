package disrupt

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// specIndex holds what does not change during a search: requests as vectors, and
// which kinds of node each spec may run on. Two nodes are of one kind when no
// selector, affinity or taint of the snapshot distinguishes them.
type specIndex struct {
	specs []model.PodSpec
	// dims maps a resource name to its index in the vectors. requests is by spec.
	dims     map[string]int
	requests [][]int64
	// keys are the label keys that selectors and affinities of specs refer to.
	keys []string
	// kinds has one node of every kind and ids the kind's number by its signature.
	// admittedBy is by spec the kinds that admit it, and judged how many kinds have
	// been checked for that.
	kinds      []model.Node
	ids        map[string]int32
	admittedBy [][]int32
	judged     []int
}

func newSpecIndex(s *model.Snapshot) *specIndex {
	g := &specIndex{
		specs: s.Specs, dims: map[string]int{}, ids: map[string]int32{},
		requests: make([][]int64, len(s.Specs)), admittedBy: make([][]int32, len(s.Specs)), judged: make([]int, len(s.Specs)),
	}
	for i := range s.Specs {
		for name := range s.Specs[i].Requests {
			g.dims[name] = 0
		}
		for key := range s.Specs[i].NodeSelector {
			g.keys = append(g.keys, key)
		}
		for _, term := range s.Specs[i].Affinity {
			for r := range term {
				g.keys = append(g.keys, term[r].Key)
			}
		}
	}
	for d, name := range slices.Sorted(maps.Keys(g.dims)) { // sorted, so that sums over the resources are the same each time
		g.dims[name] = d
	}
	slices.Sort(g.keys)
	g.keys = slices.Compact(g.keys)
	for i := range s.Specs {
		g.requests[i] = g.vector(s.Specs[i].Requests)
	}
	return g
}

func (g *specIndex) vector(in model.Resources) []int64 {
	out := make([]int64, len(g.dims))
	for name, n := range in {
		if d, ok := g.dims[name]; ok {
			out[d] = n
		}
	}
	return out
}

// kind returns the number of the node's kind and adds a new kind when needed.
func (g *specIndex) kind(n *model.Node) int32 {
	var text strings.Builder
	for _, key := range g.keys {
		value, ok := n.Labels[key]
		text.WriteString(strconv.FormatBool(ok) + value + "\x00")
	}
	for i := range n.Taints {
		if t := &n.Taints[i]; t.Effect != model.PreferNoSchedule {
			text.WriteString(t.Key + "\x00" + t.Value + "\x00" + string(t.Effect) + "\x00")
		}
	}
	id, ok := g.ids[text.String()]
	if !ok {
		id = int32(len(g.kinds))
		g.ids[text.String()] = id
		g.kinds = append(g.kinds, *n)
	}
	return id
}

// admittingKinds returns the kinds of nodes that a pod of the spec may run on.
func (g *specIndex) admittingKinds(spec int32) []int32 {
	for ; g.judged[spec] < len(g.kinds); g.judged[spec]++ {
		if k := g.judged[spec]; g.kinds[k].Admits(&g.specs[spec]) {
			g.admittedBy[spec] = append(g.admittedBy[spec], int32(k))
		}
	}
	return g.admittedBy[spec]
}

// size is the measure by which specs are sorted: millicores of cpu plus units of 4
// MiB.
func (g *specIndex) size(spec int32) int64 {
	return g.specs[spec].Requests[model.CPU] + g.specs[spec].Requests[model.Memory]>>22
}
