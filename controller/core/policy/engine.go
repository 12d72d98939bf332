package policy

import (
	"context"
	"time"
)

// Source is a policy as its author wrote it: unpacked and checked for form,
// not yet compiled.
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

// Contents are the files of a policy's ConfigMap, by name: enough to load it
// again.
type Contents struct {
	Namespace string            `json:"namespace"`
	Name      string            `json:"name"`
	Files     map[string][]byte `json:"files"`
}

// Limits lower what a policy may use; zero fields mean the engine's defaults,
// and nothing here raises them.
type Limits struct {
	// Fuel is the work of one call, in the units of the wasm engine.
	Fuel uint64
	// Memory is in bytes per instance.
	Memory uint64
	// Deadline is wall time per call.
	Deadline time.Duration
}

// Compiled is a policy that runs, as an engine makes it.
type Compiled interface {
	Policy
	// Stats are the policy's counters so far.
	Stats() Stats
	// Close gives up what the policy keeps ready, once the calls in flight
	// have returned. A decision that began with the policy may still ask it:
	// that is slower, and answers the same.
	Close(ctx context.Context) error
}

// Engine compiles policies of one kind.
type Engine interface {
	// Compile returns an error for the author of the policy, with file and
	// line where there is one. It may take seconds.
	Compile(ctx context.Context, src *Source) (Compiled, error)
}

// Stats count what a policy has done since it was compiled.
type Stats struct {
	Calls  uint64 `json:"calls"`
	Faults uint64 `json:"faults"`
	// FuelHigh is the most fuel a call has used; 0 for engines without fuel.
	FuelHigh uint64 `json:"fuelHigh,omitempty"`
	// Tripped says that the breaker is open.
	Tripped bool `json:"tripped,omitempty"`
	// LastFault is the text of the latest fault.
	LastFault string `json:"lastFault,omitempty"`
	// Notes tell the author what the engine could not do well, with the line.
	Notes []string `json:"notes,omitempty"`
}
