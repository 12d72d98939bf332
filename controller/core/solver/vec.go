package solver

import (
	"sort"

	"spokeshave.dev/controller/core/model"
)

// maxDims is how many different resources one solve can pack. Pods that ask
// for one beyond are reported as unsupported.
const maxDims = 12

// vec is an amount of every resource in use, in the units of model.Resources.
type vec [maxDims]int64

// fits says whether demand d is within c; n is the number of resources in use.
func fits(d, c *vec, n int) bool {
	if d[0] > c[0] || d[1] > c[1] || d[2] > c[2] || d[3] > c[3] {
		return false
	}
	for r := 4; r < n; r++ {
		if d[r] > c[r] {
			return false
		}
	}
	return true
}

// maxCopies is how often, at most k times, demand d fits into c.
func maxCopies(d, c *vec, k int32, n int) int32 {
	for r := range n {
		if d[r] > 0 && int64(k)*d[r] > c[r] {
			k = int32(c[r] / d[r])
		}
	}
	return k
}

func (v *vec) add(d *vec, k int64) {
	for r := range v {
		v[r] += d[r] * k
	}
}

func (v *vec) max(o *vec) {
	for r := range v {
		v[r] = max(v[r], o[r])
	}
}

// less orders vectors by their first difference.
func (v *vec) compare(o *vec) int {
	for r := range v {
		if v[r] != o[r] {
			if v[r] < o[r] {
				return -1
			}
			return 1
		}
	}
	return 0
}

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
		case len(d.names) == maxDims:
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

// vec reads the amounts of the numbered resources.
func (d *dims) vec(r model.Resources) (v vec) {
	for i, name := range d.names {
		v[i] = r[name]
	}
	return v
}

// requests is vec for a pod, which takes a slot in any case.
func (d *dims) requests(r model.Resources) vec {
	v := d.vec(r)
	v[2] = max(v[2], 1)
	return v
}
