package policy

import (
	"context"
	"time"
)

// Source is a policy before compilation: its files are unpacked and their form is
// checked.
type Source struct {
	Info Info
	// Module is the decoded WebAssembly module of a wasm policy.
	Module []byte
	// Files are the *.rego files and data.json of a rego policy, by name.
	Files map[string]string
	// Config is the policy's own configuration as JSON, nil for none.
	Config []byte
	Limits Limits
}

// Contents are the files of a policy's ConfigMap, by name. A policy can be loaded
// from them again.
type Contents struct {
	Namespace string            `json:"namespace"`
	Name      string            `json:"name"`
	Files     map[string][]byte `json:"files"`
	// Scope is that of the namespace, nil for the controller's own.
	Scope *Scope `json:"scope,omitempty"`
}

// Limits lower what a policy may use. Zero fields mean the engine's defaults; a
// value above the default does not raise it.
type Limits struct {
	// Fuel is the work of one call, in the units of the wasm engine.
	Fuel uint64
	// Memory is in bytes per instance.
	Memory uint64
	// Deadline is wall time per call.
	Deadline time.Duration
}

// Compiled is a compiled policy that its engine can close.
type Compiled interface {
	Policy
	// Stats are the policy's counters so far.
	Stats() Stats
	// Close releases the resources that the policy keeps ready, after the calls in
	// flight have returned. A decision that began before Close may still call the
	// policy: such calls are slower and give the same answers.
	Close(ctx context.Context) error
}

// Engine compiles policies of one kind.
type Engine interface {
	// Compile returns an error written for the policy's author, with file and line
	// where known. It may take seconds.
	Compile(ctx context.Context, src *Source) (Compiled, error)
}

// Stats count what a policy has done since it was compiled.
type Stats struct {
	Calls  uint64 `json:"calls"`
	Faults uint64 `json:"faults"`
	// FuelHigh is the most fuel a call has used; 0 for engines without fuel.
	FuelHigh uint64 `json:"fuelHigh,omitempty"`
	// Kills counts how often the policy has ended the process that it runs in; 0 for
	// engines without one.
	Kills uint64 `json:"kills,omitempty"`
	// Tripped says that the breaker is open.
	Tripped bool `json:"tripped,omitempty"`
	// LastFault is the text of the latest fault.
	LastFault string `json:"lastFault,omitempty"`
	// Notes tell the author, with the line, what the engine could not optimise.
	Notes []string `json:"notes,omitempty"`
}
