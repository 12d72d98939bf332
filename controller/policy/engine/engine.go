// Package engine lists the policy engines of the product. The controller and the
// command line both use it, so that both run a policy in the same way.
package engine

import (
	"context"
	"io"
	"time"

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
	// WasmMemory is how many bytes the compiled code and the instances of all WebAssembly
	// policies may use together; 0 for no limit.
	WasmMemory uint64
	// Isolate runs Rego policies, and compiles WebAssembly modules, in processes of their own,
	// with these settings. nil does both in this process: for the command line, where they are the user's own.
	Isolate *isolate.Config
	// RegoByOPA makes OPA evaluate every Rego rule, without the compiled evaluator.
	RegoByOPA bool
}

// compileLimit is the wall time within which a WebAssembly module must be compiled. The
// example in Go, of 2.2 MiB, takes 2 s.
const compileLimit = 20 * time.Second

// With returns the engines by their name in policy.yaml.
func With(cfg Config) map[string]policy.Engine {
	modules := &wasm.Engine{Log: cfg.Log, CacheDir: cfg.Cache, Memory: cfg.WasmMemory}
	var rules policy.Engine = &rego.Engine{OPAOnly: cfg.RegoByOPA}
	if cfg.Isolate != nil {
		isolated := cfg.isolated()
		rules, modules.Elsewhere = isolated, elsewhere(isolated)
	}
	return map[string]policy.Engine{rego.Name: rules, wasm.Name: modules}
}

func (c *Config) isolated() *isolate.Engine {
	cfg := *c.Isolate
	cfg.Engine = rego.Name
	if c.RegoByOPA {
		cfg.Option = optionOPA
	}
	return isolate.New(cfg)
}

// elsewhere compiles modules in processes like those in which Rego policies are tried, and in
// turn with these.
func elsewhere(e *isolate.Engine) wasm.Elsewhere {
	return func(ctx context.Context, info *policy.Info, order, module []byte, take func(io.Reader) error) error {
		return e.Do(ctx, &isolate.Job{
			Policy: info, Order: order, Body: module, Limit: compileLimit,
			Advice: "divide its large functions, build it for size (such as -Os, or -opt=z), and leave out what it does not use; --rego-memory is what compiling may take",
		}, take)
	}
}
