package simulate

import (
	"spokeshave.dev/controller/policy"
	"spokeshave.dev/controller/policy/wasm"
)

// engines are the controller's own, by name.
func engines() map[string]policy.Engine {
	return map[string]policy.Engine{wasm.Name: &wasm.Engine{}}
}
