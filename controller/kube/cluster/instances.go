package cluster

import (
	"sync/atomic"

	"spokeshave.dev/controller/cloud/provider"
)

// Instances are the instances of the cluster as the cloud listed them last. It is safe
// for concurrent use. The zero value knows none.
type Instances struct {
	byID atomic.Pointer[map[string]provider.Instance]
}

// Set replaces the instances by those of a new list. It leaves out instances that are
// shutting down, which are no longer billed.
func (i *Instances) Set(listed []provider.Instance) {
	byID := make(map[string]provider.Instance, len(listed))
	for at := range listed {
		if in := &listed[at]; in.State == "" || in.State == "pending" || in.State == "running" {
			byID[in.ProviderID] = *in
		}
	}
	i.byID.Store(&byID)
}

// Get returns the instance with a provider ID, if it was listed.
func (i *Instances) Get(providerID string) (provider.Instance, bool) {
	byID := i.byID.Load()
	if byID == nil {
		return provider.Instance{}, false
	}
	in, ok := (*byID)[providerID]
	return in, ok
}
