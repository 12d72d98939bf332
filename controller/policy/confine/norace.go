//go:build !race

package confine

// memoryIsLimited is false with the race detector.
const memoryIsLimited = true
