package supply

import (
	"sort"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/vec"
)

// Dims numbers the resources that the pods to place request: cpu, memory and pods
// first, the others by name. A Vector has an amount of each, in the units of
// model.Resources.
type Dims struct {
	Names []string
	index map[string]int
	// Overflow names the resources that found no number.
	Overflow map[string]bool
}

func newDims(asked []string) Dims {
	d := Dims{Names: []string{model.CPU, model.Memory, model.PodSlots}, Overflow: map[string]bool{}}
	sort.Strings(asked)
	for _, name := range asked {
		switch {
		case name == model.CPU || name == model.Memory || name == model.PodSlots:
		case len(d.Names) == vec.MaxDims:
			d.Overflow[name] = true
		default:
			d.Names = append(d.Names, name)
		}
	}
	d.index = make(map[string]int, len(d.Names))
	for i, name := range d.Names {
		d.index[name] = i
	}
	return d
}

// N is how many resources are numbered.
func (d *Dims) N() int { return len(d.Names) }

// Vector is the amounts of the numbered resources.
func (d *Dims) Vector(r model.Resources) (v vec.Vector) {
	for i, name := range d.Names {
		v[i] = r[name]
	}
	return v
}

// Requests is the Vector of a pod, which counts as one pod in any case.
func (d *Dims) Requests(r model.Resources) vec.Vector {
	v := d.Vector(r)
	v[2] = max(v[2], 1)
	return v
}
