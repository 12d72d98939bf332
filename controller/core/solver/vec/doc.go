// Package vec has the two value types that packing computes with: Vector, an
// amount of each of up to MaxDims resources, and Bits, a set of small integers.
//
// Vectors are arrays, so that lists of them need no allocation per element.
// Amounts are exact integers; Reals holds the same in floating point, for
// linear programming. A function that takes n looks at the first n resources.
package vec
