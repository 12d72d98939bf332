// Package engine names the policy engines of the product. The controller and
// the command line take them from here, so that a policy means the same to
// both.
package engine

import (
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/rego"
	"spokeshave.dev/controller/policy/wasm"
)

// All are the engines by the name that policy.yaml uses, without a log.
func All() map[string]policy.Engine { return With(Config{}) }

// Config is what the engines may use of their surroundings.
type Config struct {
	// Log, when set, gets what guests write, a line at a time.
	Log func(info *policy.Info, line string)
	// Cache is a folder for compiled modules; "" keeps none.
	Cache string
	// RegoByOPA has OPA evaluate all of Rego, without the compiled evaluator.
	RegoByOPA bool
}

// With are the engines by the name that policy.yaml uses.
func With(cfg Config) map[string]policy.Engine {
	return map[string]policy.Engine{
		rego.Name: &rego.Engine{OPAOnly: cfg.RegoByOPA},
		wasm.Name: &wasm.Engine{Log: cfg.Log, CacheDir: cfg.Cache},
	}
}
