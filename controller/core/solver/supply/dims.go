package supply

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/vec"
)

// Dims numbers the resources that the pods to place request: cpu, memory and pods
// first, the others by name. A Vector has an amount of each, in the units of
// model.Resources.
//
// Pods may request more different resources than a Vector has room for. Those that the
// fewest specs request are then rare: the last number stands for them together, a node
// has 1 of it and a pod that requests any of them takes 1. A node therefore gets one such
// pod at a time, and its rare resources are compared by name.
type Dims struct {
	Names []string
	index map[string]int
	// Rare names the resources without a number of their own, in order; mostly none.
	Rare []string
}

// RareName is the name of what stands for the rare resources.
const RareName = "all of the resources that few pods request"

// newDims numbers resources. asked counts by name the specs that request it.
func newDims(asked map[string]int) Dims {
	d := Dims{Names: []string{model.CPU, model.Memory, model.PodSlots}}
	for _, name := range d.Names {
		delete(asked, name)
	}
	others := slices.Sorted(maps.Keys(asked))
	if room := vec.MaxDims - len(d.Names); len(others) > room {
		slices.SortStableFunc(others, func(a, b string) int { return cmp.Compare(asked[b], asked[a]) })
		d.Rare = slices.Sorted(slices.Values(others[room-1:]))
		others = slices.Sorted(slices.Values(others[:room-1]))
	}
	d.Names = append(d.Names, others...)
	if d.Rare != nil {
		d.Names = append(d.Names, RareName)
	}
	d.index = make(map[string]int, len(d.Names))
	for i, name := range d.Names {
		d.index[name] = i
	}
	return d
}

// N is how many resources are numbered.
func (d *Dims) N() int { return len(d.Names) }

// Vector is the amounts of the numbered resources that a node has.
func (d *Dims) Vector(r model.Resources) (v vec.Vector) {
	for i, name := range d.Names {
		v[i] = r[name]
	}
	if d.Rare != nil {
		v[vec.MaxDims-1] = 1
	}
	return v
}

// Uses is the Vector of a pod that is on a node already, which counts as one pod in any
// case. The rare resources that it uses are not part of it.
func (d *Dims) Uses(r model.Resources) (v vec.Vector) {
	for i, name := range d.Names {
		v[i] = r[name]
	}
	v[2] = max(v[2], 1)
	return v
}

// Requests is the Vector of a pod to place, which counts as one pod in any case.
func (d *Dims) Requests(r model.Resources) vec.Vector {
	v := d.Uses(r)
	if d.AsksRare(r) {
		v[vec.MaxDims-1] = 1
	}
	return v
}

// NamesFor is Names for a pod: what stands for the rare resources is named after those that
// the pod requests.
func (d *Dims) NamesFor(r model.Resources) []string {
	if !d.AsksRare(r) {
		return d.Names
	}
	asked := slices.DeleteFunc(slices.Clone(d.Rare), func(name string) bool { return r[name] == 0 })
	return append(slices.Clone(d.Names[:len(d.Names)-1]), strings.Join(asked, " and "))
}

// AsksRare reports whether a pod requests any of the rare resources.
func (d *Dims) AsksRare(r model.Resources) bool {
	return slices.ContainsFunc(d.Rare, func(name string) bool { return r[name] > 0 })
}

// RareOf is the amounts of the rare resources, in the order of Rare; nil when there are none.
func (d *Dims) RareOf(r model.Resources) []int64 {
	if d.Rare == nil {
		return nil
	}
	out := make([]int64, len(d.Rare))
	for i, name := range d.Rare {
		out[i] = r[name]
	}
	return out
}

// FitsRare reports whether the rare resources that a pod requests are at most those that
// are free, in the order of Rare.
func (d *Dims) FitsRare(r model.Resources, free []int64) bool {
	for i, name := range d.Rare {
		if n := r[name]; n > 0 && n > free[i] {
			return false
		}
	}
	return true
}
