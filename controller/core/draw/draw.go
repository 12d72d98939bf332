// Package draw draws numbers at random that are the same on every machine and in every version
// of Go, so that equal snapshots have equal results.
package draw

// Numbers is a linear congruential generator (Knuth's MMIX). Its value is the seed.
type Numbers uint64

// Below draws a number from 0 on that is less than n, which is at least 1.
func (x *Numbers) Below(n int) int {
	*x = *x*6364136223846793005 + 1442695040888963407
	return int((uint64(*x) >> 33) % uint64(n))
}

// Shuffle permutes a list.
func Shuffle[T any](x *Numbers, list []T) {
	for i := len(list) - 1; i > 0; i-- {
		j := x.Below(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}
