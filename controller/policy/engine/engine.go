// Package engine lists the policy engines of the product. The controller and the
// command line both use it, so that both run a policy in the same way.
package engine

import (
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/isolate"
	"spokeshave.dev/controller/policy/rego"
	"spokeshave.dev/controller/policy/wasm"
)

// All returns the engines by their name in policy.yaml, with the default Config.
func All() map[string]policy.Engine { return With(Config{}) }

// Config holds the engines' options. The zero value works.
type Config struct {
	// Log, when set, receives what guests write, one line at a time.
	Log func(info *policy.Info, line string)
	// Cache is a folder for compiled modules; "" for none.
	Cache string
	// WasmMemory is how many bytes the instances of all WebAssembly policies may use
	// together; 0 for no limit.
	WasmMemory uint64
	// Isolate runs Rego policies in processes of their own, with these settings. nil
	// runs them in this process: for the command line, where they are the user's own.
	Isolate *isolate.Config
	// RegoByOPA makes OPA evaluate every Rego rule, without the compiled evaluator.
	RegoByOPA bool
}

// With returns the engines by their name in policy.yaml.
func With(cfg Config) map[string]policy.Engine {
	return map[string]policy.Engine{
		rego.Name: cfg.rego(),
		wasm.Name: &wasm.Engine{Log: cfg.Log, CacheDir: cfg.Cache, Memory: cfg.WasmMemory},
	}
}

func (c *Config) rego() policy.Engine {
	if c.Isolate == nil {
		return &rego.Engine{OPAOnly: c.RegoByOPA}
	}
	isolated := *c.Isolate
	isolated.Engine = rego.Name
	if c.RegoByOPA {
		isolated.Option = optionOPA
	}
	return isolate.New(isolated)
}
