//go:build race

package confine

// memoryIsLimited is false with the race detector, which takes more memory than the
// program.
const memoryIsLimited = false
