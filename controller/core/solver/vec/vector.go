package vec

// MaxDims is how many resources a Vector can hold: cpu, memory, pod slots and up to
// nine others. Copying and comparing vectors is part of every inner loop, so there are
// no more than seem to be needed. The time of 8 and of 16 cannot be told from noise
// (docs/measurements/solver.md).
const MaxDims = 12

// Vector is an amount of every resource, by resource number, in integer units
// that the caller chooses.
type Vector [MaxDims]int64

// Reals is a real number for every resource, such as a price.
type Reals [MaxDims]float64

// Fits reports whether demand is at most capacity in each of the first n
// resources. The first four are compared whatever n is.
func Fits(demand, capacity *Vector, n int) bool {
	if demand[0] > capacity[0] || demand[1] > capacity[1] || demand[2] > capacity[2] || demand[3] > capacity[3] {
		return false
	}
	for r := 4; r < n; r++ {
		if demand[r] > capacity[r] {
			return false
		}
	}
	return true
}

// MaxCopies is how often, at most limit times, demand fits into capacity, by the
// first n resources. A demand of nothing fits limit times.
func MaxCopies(demand, capacity *Vector, limit int32, n int) int32 {
	for r := range n {
		if demand[r] > 0 && int64(limit)*demand[r] > capacity[r] {
			limit = int32(capacity[r] / demand[r])
		}
	}
	return limit
}

// Add adds times the amounts of o; a negative times subtracts them.
func (v *Vector) Add(o *Vector, times int64) {
	for r := range v {
		v[r] += o[r] * times
	}
}

// Raise makes every amount at least that of o.
func (v *Vector) Raise(o *Vector) {
	for r := range v {
		v[r] = max(v[r], o[r])
	}
}

// Compare orders vectors by the first resource in which they differ: negative
// when v has less of it, positive when it has more, 0 when they are equal.
func (v *Vector) Compare(o *Vector) int {
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

// Scaled are the first n amounts, each times its scale.
func (v *Vector) Scaled(scale *Reals, n int) (out Reals) {
	for r := range n {
		out[r] = float64(float64(v[r]) * scale[r])
	}
	return out
}
