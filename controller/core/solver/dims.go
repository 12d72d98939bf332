package solver

import (
	"sort"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/vec"
)

// dims numbers the resources that pods ask for: cpu, memory and pod slots
// first, the others by name.
type dims struct {
	names []string
	index map[string]int
	// overflow names the resources that found no number.
	overflow map[string]bool
}

func newDims(asked []string) dims {
	d := dims{names: []string{model.CPU, model.Memory, model.PodSlots}, overflow: map[string]bool{}}
	sort.Strings(asked)
	for _, name := range asked {
		switch {
		case name == model.CPU || name == model.Memory || name == model.PodSlots:
		case len(d.names) == vec.MaxDims:
			d.overflow[name] = true
		default:
			d.names = append(d.names, name)
		}
	}
	d.index = make(map[string]int, len(d.names))
	for i, name := range d.names {
		d.index[name] = i
	}
	return d
}

func (d *dims) n() int { return len(d.names) }

// vector reads the amounts of the numbered resources.
func (d *dims) vector(r model.Resources) (v vec.Vector) {
	for i, name := range d.names {
		v[i] = r[name]
	}
	return v
}

// requests is vector for a pod, which takes a slot in any case.
func (d *dims) requests(r model.Resources) vec.Vector {
	v := d.vector(r)
	v[2] = max(v[2], 1)
	return v
}
