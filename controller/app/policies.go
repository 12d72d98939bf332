package app

import (
	"time"

	"spokeshave.dev/controller/policy"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/policy/wasm"
)

// engines are the policy engines, by the name that policy.yaml uses.
func engines() map[string]policy.Engine {
	return map[string]policy.Engine{"wasm": &wasm.Engine{}}
}

func newLoader(o *Options, now func() time.Time) *load.Loader {
	return load.New(load.Config{
		Namespace: o.Namespace, Required: o.RequiredPolicies, Engines: engines(), Now: now,
	})
}
