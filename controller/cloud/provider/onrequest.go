package provider

import "spokeshave.dev/controller/core/model"

// ResourceEFA is the resource of Elastic Fabric Adapters.
const ResourceEFA = "vpc.amazonaws.com/efa"

// WithoutUnrequested returns the resources of an instance that was launched for these
// requests. An instance has what its type has, but for the adapters that are attached only
// where pods request some. The argument stays as it is.
func WithoutUnrequested(of model.Resources, requested func(name string) bool) model.Resources {
	if of[ResourceEFA] == 0 || requested(ResourceEFA) {
		return of
	}
	out := of.Clone()
	delete(out, ResourceEFA)
	return out
}
