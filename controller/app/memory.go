package app

import (
	"fmt"
	"os"
	"runtime/debug"

	"k8s.io/apimachinery/pkg/api/resource"

	"spokeshave.dev/api/quantity"
)

// Memory that a process for Rego policies needs at least, and that the controller
// itself does, in bytes.
const (
	leastRegoMemory = 96 << 20
	leastOwnMemory  = 128 << 20
)

// wasmMemory is the default of --wasm-memory, in bytes: eight policies with the default
// limits.memory, of which each has an instance and a spare.
const wasmMemory = 256 << 20

// journalMemory is the default of --journal-memory, in bytes: 200 decisions that launch a
// hundred nodes each.
const journalMemory = 32 << 20

// Quantity is an amount of memory on the command line, such as 192Mi.
type Quantity struct{ Bytes int64 }

// Set implements pflag.Value.
func (q *Quantity) Set(text string) error {
	parsed, err := quantity.Parse(text)
	if err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	q.Bytes = parsed.Value()
	return nil
}

// String implements pflag.Value.
func (q *Quantity) String() string { return resource.NewQuantity(q.Bytes, resource.BinarySI).String() }

// Type implements pflag.Value.
func (q *Quantity) Type() string { return "quantity" }

// regoProcesses returns how many processes of Rego policies may run at the same time.
func (o *Options) regoProcesses() int64 {
	if o.WebhookPort != 0 {
		return 3
	}
	return 2
}

// ownMemory returns what the Rego processes leave of the memory limit.
func (o *Options) ownMemory() int64 {
	return o.MemoryLimit.Bytes - o.regoProcesses()*o.RegoMemory.Bytes
}

func (o *Options) validateMemory() error {
	switch {
	case o.JournalMemory.Bytes < 0:
		return fmt.Errorf("--journal-memory %s: must not be negative", &o.JournalMemory)
	case o.WasmMemory.Bytes < 0:
		return fmt.Errorf("--wasm-memory %s: must not be negative", &o.WasmMemory)
	case o.RegoMemory.Bytes != 0 && o.RegoMemory.Bytes < leastRegoMemory:
		return fmt.Errorf("--rego-memory %s: at least %d Mi", &o.RegoMemory, leastRegoMemory>>20)
	case o.MemoryLimit.Bytes > 0 && o.ownMemory() < leastOwnMemory:
		return fmt.Errorf("--memory-limit %s: %d processes of --rego-memory %s leave less than %d Mi for the controller itself",
			&o.MemoryLimit, o.regoProcesses(), &o.RegoMemory, leastOwnMemory>>20)
	}
	return nil
}

// limitMemory makes the garbage collector keep the controller below nine tenths of its
// share of the memory limit. GOMEMLIMIT in the environment goes before.
func (o *Options) limitMemory() {
	if o.MemoryLimit.Bytes == 0 || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetMemoryLimit(o.ownMemory() / 10 * 9)
}
