package wasm

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/api"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/wasm/meter"
)

// callKey is the key of the call in the context that wazero passes to host
// functions.
type callKey struct{}

// call is one call of a guest by the host: its remaining budget, and what went
// wrong. Only one goroutine uses it at a time. It is itself the context of the
// guest's functions, so that no context has to be made for each call.
type call struct {
	context.Context //nolint:containedctx // of the caller, which this one adds to

	expired <-chan time.Time  // the wall deadline
	fuel    api.MutableGlobal // of the guest; found at the first safepoint
	left    int64             // fuel not handed out yet
	clock   int64             // nanoseconds; sleeping moves it
	random  rand.PCG
	log     strings.Builder
	// fault is why the host stops the guest. cancelled is set when the caller's
	// context ended.
	fault     *policy.Fault
	cancelled bool
}

// Value implements context.Context.
func (c *call) Value(key any) any {
	if _, own := key.(callKey); own {
		return c
	}
	return c.Context.Value(key)
}

func callOf(ctx context.Context) *call {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return &call{Context: ctx}
	}
	return c
}

// safepoint runs during the guest's call whenever its slice of fuel is used up. A
// result other than 0 stops the guest.
func safepoint(ctx context.Context, mod api.Module, stack []uint64) {
	c := callOf(ctx)
	if !c.find(mod) {
		stack[0] = 1
		return
	}
	if !c.proceed() {
		stack[0] = 1
		return
	}
	stack[0] = 0
}

// proceed adds fuel and reports whether the guest may continue.
func (c *call) proceed() bool {
	runtime.Gosched() // lets timers and the garbage collector run
	if c.fault == nil {
		select {
		case <-c.expired:
			c.stop(policy.FaultDeadline, "took too long by the wall clock")
		default:
			c.cancelled = c.Err() != nil
		}
	}
	return c.fault == nil && !c.cancelled && c.refill()
}

// find sets the guest's fuel global, also while the guest is still starting. It
// reports whether the global is known.
func (c *call) find(mod api.Module) bool {
	if c.fuel == nil {
		if global, ok := mod.ExportedGlobal(meter.FuelExport).(api.MutableGlobal); ok {
			c.fuel = global
		}
	}
	return c.fuel != nil
}

// refill adds the next slice of fuel and reports whether any is left.
func (c *call) refill() bool {
	have := int64(c.fuel.Get())
	for have < 0 && c.left > 0 {
		give := min(slice, c.left)
		c.left -= give
		have += give
	}
	c.fuel.Set(uint64(have))
	if have < 0 {
		c.stop(policy.FaultFuel, "used up its fuel")
	}
	return have >= 0
}

// stop makes the guest stop at its next safepoint, which is at its next function
// call or loop iteration. Only the first reason is kept.
func (c *call) stop(kind policy.FaultKind, message string) {
	if c.fault == nil {
		c.fault = &policy.Fault{Kind: kind, Message: message}
	}
	if c.fuel != nil && int64(c.fuel.Get()) >= 0 {
		c.left += int64(c.fuel.Get())
		c.fuel.Set(^uint64(0))
	}
}

// pay deducts work that the host does for the guest from the guest's fuel. It
// reports whether the fuel is sufficient; otherwise the host must not do the work.
func (c *call) pay(units int64) bool {
	if c.fuel == nil {
		return true
	}
	have := int64(c.fuel.Get()) - units
	c.fuel.Set(uint64(have))
	return have >= 0 || c.proceed()
}

// write adds a guest's text to the log of the call, up to maxLog bytes.
func (c *call) write(text []byte) {
	if room := maxLog - c.log.Len(); room > 0 {
		c.log.Write(text[:min(len(text), room)])
	}
}
