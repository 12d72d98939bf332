package app

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// heapFloor is how large the heap may become, in bytes, before garbage is collected, unless
// that is more than mostPercent or less than leastPercent of what is scanned in a collection:
// the live heap, stacks and globals (ADR 82).
const (
	heapFloor    = 70_000_000
	leastPercent = 15
	mostPercent  = 100
)

// scanned are the names of the runtime's metrics of what a collection scans. The first is the
// live heap.
var scanned = [...]string{"/gc/heap/live:bytes", "/gc/scan/stack:bytes", "/gc/scan/globals:bytes"} //nolint:gochecknoglobals // a constant

// floorPercent returns the GOGC by which the heap reaches heapFloor before the next collection.
// live is the live heap in bytes, other what else is scanned.
func floorPercent(live, other uint64) int {
	if live >= heapFloor {
		return leastPercent
	}
	if live+other == 0 { // there was no collection yet
		return mostPercent
	}
	return int(min(max((heapFloor-live)*100/(live+other), leastPercent), mostPercent))
}

// followHeap sets the GOGC by the live heap now, and again after each garbage collection,
// unless the environment variable GOGC is set.
func followHeap(lookup func(string) (string, bool)) {
	if _, set := lookup("GOGC"); !set {
		setPercent(0)
	}
}

// collected is an object that nothing refers to, so that it goes with the next collection. It
// has a pointer, so that it is allocated alone.
type collected struct{ _ *byte }

// setPercent sets the GOGC by the live heap, if it is not last already, and is called again
// after the next garbage collection.
func setPercent(last int) {
	samples := make([]metrics.Sample, len(scanned))
	for i, name := range scanned {
		samples[i].Name = name
	}
	metrics.Read(samples)
	next := floorPercent(samples[0].Value.Uint64(), samples[1].Value.Uint64()+samples[2].Value.Uint64())
	if next != last {
		debug.SetGCPercent(next)
	}
	runtime.AddCleanup(new(collected), setPercent, next)
}
