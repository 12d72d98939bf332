package model

import (
	"maps"
	"strings"
)

// Names of the resources that this program treats specially. Extended resources
// (nvidia.com/gpu, …) keep their Kubernetes names.
const (
	CPU              = "cpu"
	Memory           = "memory"
	PodSlots         = "pods"
	EphemeralStorage = "ephemeral-storage"
	// NodeCount is the pseudo-resource of NodePool limits that counts nodes.
	NodeCount = "nodes"
)

// VolumesPrefix is the prefix of the resources that count volumes. The name of a CSI
// driver follows it, and the amount is how many of its volumes a node may attach.
// The requests come from volume claims and the capacity from CSINodes.
const VolumesPrefix = "attachable-volumes-csi-"

// CountsVolumes reports whether the resource counts the volumes of a CSI driver.
func CountsVolumes(resource string) bool { return strings.HasPrefix(resource, VolumesPrefix) }

// Resources maps resource names to integer amounts: cpu in millicores, memory
// and storage in bytes, everything else in units.
type Resources map[string]int64

// Add adds the amounts of more to r, which must not be nil.
func (r Resources) Add(more Resources) {
	for name, n := range more {
		r[name] += n
	}
}

// Clone returns an independent copy, never nil.
func (r Resources) Clone() Resources {
	out := make(Resources, len(r))
	maps.Copy(out, r)
	return out
}
