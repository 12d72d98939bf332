package wasm

import (
	"context"
	"io"
	"os"
	"testing"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/isolate"
)

// TestMain makes this test binary the process in which modules are compiled.
func TestMain(m *testing.M) {
	isolate.Child(nil, Work)
	os.Exit(m.Run())
}

// outside returns an engine that compiles in other processes, with so many bytes of memory.
func outside(memory uint64) *Engine {
	host := isolate.New(isolate.Config{Memory: memory})
	return &Engine{Elsewhere: func(ctx context.Context, info *policy.Info, order, module []byte, take func(io.Reader) error) error {
		return host.Do(ctx, &isolate.Job{Policy: info, Order: order, Body: module, Limit: time.Minute, Advice: "build it for size"}, take)
	}}
}
