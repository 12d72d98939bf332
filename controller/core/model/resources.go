package model

import (
	"maps"
	"strings"
)

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

// VolumesPrefix begins the names of the resources that count volumes: what a CSI
// driver, whose name follows, may attach to a node. Volume claims ask for them
// and CSINodes grant them; no pod and no node lists them itself.
const VolumesPrefix = "attachable-volumes-csi-"

// CountsVolumes says whether the resource counts the volumes of a CSI driver.
func CountsVolumes(resource string) bool { return strings.HasPrefix(resource, VolumesPrefix) }

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
