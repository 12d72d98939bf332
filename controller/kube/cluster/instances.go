package cluster

import (
	"slices"
	"sync/atomic"

	"spokeshave.dev/controller/cloud/provider"
)

// Instances are the instances of the cluster as the cloud listed them last. It is safe
// for concurrent use. The zero value knows none.
type Instances struct {
	listed    atomic.Pointer[listed]
	unclaimed atomic.Pointer[[]provider.Instance]
}

// listed is one list, by provider ID and by the name of the claim in the instance's tags.
type listed struct {
	byID, byClaim map[string]provider.Instance
}

// Set replaces the instances by those of a new list. It leaves out instances that are
// shutting down, which are no longer billed.
func (i *Instances) Set(all []provider.Instance) {
	next := &listed{byID: make(map[string]provider.Instance, len(all)), byClaim: make(map[string]provider.Instance, len(all))}
	for at := range all {
		in := &all[at]
		if !billed(in) {
			continue
		}
		next.byID[in.ProviderID] = *in
		// Of two for one claim, the older one is the claim's.
		if known, double := next.byClaim[in.Claim]; in.Claim != "" && (!double || in.LaunchTime.Before(known.LaunchTime)) {
			next.byClaim[in.Claim] = *in
		}
	}
	i.listed.Store(next)
}

// SetUnclaimed replaces the instances of which no claim knows. It leaves out those that are
// shutting down.
func (i *Instances) SetUnclaimed(all []provider.Instance) {
	left := slices.DeleteFunc(slices.Clone(all), func(in provider.Instance) bool { return !billed(&in) })
	i.unclaimed.Store(&left)
}

// Get returns the instance with a provider ID, if it was listed.
func (i *Instances) Get(providerID string) (provider.Instance, bool) {
	all := i.listed.Load()
	if all == nil {
		return provider.Instance{}, false
	}
	in, ok := all.byID[providerID]
	return in, ok
}

// Of returns the instance whose tags name the claim, if it was listed.
func (i *Instances) Of(claim string) (provider.Instance, bool) {
	all := i.listed.Load()
	if all == nil {
		return provider.Instance{}, false
	}
	in, ok := all.byClaim[claim]
	return in, ok
}

// Unclaimed returns the instances of which no claim knows and that are billed. The result
// must not be changed.
func (i *Instances) Unclaimed() []provider.Instance {
	if all := i.unclaimed.Load(); all != nil {
		return *all
	}
	return nil
}

func billed(in *provider.Instance) bool {
	return in.State == "" || in.State == "pending" || in.State == "running"
}
