package model

import "maps"

// Names of the resources that have a meaning of their own. Extended resources
// (nvidia.com/gpu, …) keep their Kubernetes names.
const (
	CPU              = "cpu"
	Memory           = "memory"
	PodSlots         = "pods"
	EphemeralStorage = "ephemeral-storage"
	// NodeCount is the pseudo-resource of NodePool limits that counts nodes.
	NodeCount = "nodes"
)

// Resources maps resource names to integer amounts: cpu in millicores, memory
// and storage in bytes, everything else in units.
type Resources map[string]int64

// Add adds more into r, which must not be nil.
func (r Resources) Add(more Resources) {
	for name, n := range more {
		r[name] += n
	}
}

// Clone is an independent copy, never nil.
func (r Resources) Clone() Resources {
	out := make(Resources, len(r))
	maps.Copy(out, r)
	return out
}
