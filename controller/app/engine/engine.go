// Package engine names the policy engines of the product. The controller and
// the command line take them from here, so that a policy means the same to
// both.
package engine

import (
	"spokeshave.dev/controller/policy"
	"spokeshave.dev/controller/policy/rego"
	"spokeshave.dev/controller/policy/wasm"
)

// All are the engines by the name that policy.yaml uses.
func All() map[string]policy.Engine {
	return map[string]policy.Engine{
		rego.Name: &rego.Engine{},
		wasm.Name: &wasm.Engine{},
	}
}
