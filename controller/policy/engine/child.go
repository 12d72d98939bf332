package engine

import (
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/isolate"
	"spokeshave.dev/controller/policy/rego"
)

// optionOPA makes OPA evaluate every rule in the process of Rego policies.
const optionOPA = "opa"

// Child serves Rego policies and does not return if the program was started as the
// process in which they run; otherwise it does nothing. Programs that use Config.Isolate
// call it first.
func Child() {
	isolate.Child(func(b *isolate.Build) policy.Engine {
		return &rego.Engine{OPAOnly: b.Option == optionOPA, Stage: b.Stage, Serving: !b.Trial, Notes: b.Notes}
	})
}
