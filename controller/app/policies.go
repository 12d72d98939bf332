package app

import (
	"time"

	"spokeshave.dev/controller/app/engine"
	"spokeshave.dev/controller/policy/load"
)

func newLoader(o *Options, now func() time.Time) *load.Loader {
	return load.New(load.Config{
		Namespace: o.Namespace, Required: o.RequiredPolicies, Engines: engine.All(), Now: now,
	})
}
