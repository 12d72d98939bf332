package engine

import (
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/isolate"
	"spokeshave.dev/controller/policy/rego"
	"spokeshave.dev/controller/policy/wasm"
)

// optionOPA makes OPA evaluate every rule in the process of Rego policies.
const optionOPA = "opa"

// Child serves Rego policies, or compiles a WebAssembly module, and does not return if the
// program was started as a process for that; otherwise it does nothing. Programs that use
// Config.Isolate call it first.
func Child() {
	isolate.Child(Rego, wasm.Work)
}

// Rego returns the engine of Rego policies inside their process.
func Rego(b *isolate.Build) policy.Engine {
	return &rego.Engine{OPAOnly: b.Option == optionOPA, Stage: b.Stage, Serving: !b.Trial, Notes: b.Notes}
}
