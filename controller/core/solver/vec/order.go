package vec

import "slices"

// Ordered are the indices 0 to n-1 in the order given; input that is in order
// already, which is the rule, costs one pass.
func Ordered(n int, compare func(a, b int32) int) []int32 {
	out := make([]int32, n)
	Order(out, compare)
	return out
}

// Order is ordered into a list that is there.
func Order(out []int32, compare func(a, b int32) int) {
	for i := range out {
		out[i] = int32(i)
	}
	if !slices.IsSortedFunc(out, compare) {
		slices.SortStableFunc(out, compare)
	}
}

// Pick returns the elements of a list with the given indexes.
func Pick[T any](list []T, order []int32) []T {
	out := make([]T, len(order))
	for i, at := range order {
		out[i] = list[at]
	}
	return out
}
