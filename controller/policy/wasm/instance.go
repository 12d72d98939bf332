package wasm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/wasm/meter"
	"spokeshave.dev/controller/policy/wire"
	"spokeshave.dev/sdk/abi"
)

// instance is a guest with its own memory. Only one goroutine uses it at a time.
type instance struct {
	mod         api.Module
	memory      api.Memory
	fuel, depth api.MutableGlobal
	alloc       api.Function
	hooks       map[policy.Hook]api.Function
	maxDepth    uint32
	encoder     wire.Encoder
	call        call
	timer       *time.Timer // of the wall deadline
	stack       [2]uint64
	single      bool // ends with its call
}

// moment is the time and seed of a call.
type moment struct {
	nanos int64
	seed  uint64
}

// setupMoment is the time and seed before a guest's first question. Go's runtime
// does not start at time 0.
func setupMoment() moment { return moment{nanos: 1e9, seed: 1} }

// newInstance starts an instance and configures it.
func (p *Policy) newInstance(ctx context.Context) (*instance, error) {
	i := &instance{maxDepth: p.limits.module.Depth, hooks: map[policy.Hook]api.Function{}}
	err := i.visit(ctx, p.limits.setup, setupMoment(), func(ctx context.Context) error {
		mod, err := p.runtime.InstantiateModule(ctx, p.code, wazero.NewModuleConfig().WithName("").WithStartFunctions())
		if err != nil {
			return i.explain(ctx, err)
		}
		i.mod, i.memory = mod, mod.Memory()
		return i.start(ctx, p)
	})
	if err != nil {
		i.close(ctx)
		return nil, fmt.Errorf("start: %w", err)
	}
	return i, nil
}

func (i *instance) start(ctx context.Context, p *Policy) error {
	var ok bool
	if i.fuel, ok = i.mod.ExportedGlobal(meter.FuelExport).(api.MutableGlobal); !ok {
		return errors.New("no fuel counter")
	}
	if i.depth, ok = i.mod.ExportedGlobal(meter.DepthExport).(api.MutableGlobal); !ok {
		return errors.New("no depth counter")
	}
	i.call.fuel = i.fuel
	i.alloc = i.mod.ExportedFunction(abi.ExportAlloc)
	for _, h := range p.info.Hooks {
		name, _ := hookExport(h)
		i.hooks[h] = i.mod.ExportedFunction(name)
	}
	if f := i.mod.ExportedFunction(abi.ExportInitialize); f != nil {
		if _, err := i.invoke(ctx, f); err != nil {
			return err
		}
	}
	if _, err := i.invoke(ctx, i.mod.ExportedFunction(abi.ExportVersion)); err != nil {
		return err
	}
	return i.configure(ctx, p)
}

// configure passes the setup block to the guest, with the policy's configuration.
func (i *instance) configure(ctx context.Context, p *Policy) error {
	f := i.mod.ExportedFunction(abi.ExportConfigure)
	if f == nil {
		if len(p.config) > 0 {
			return fmt.Errorf("config is given, but the module exports no %s", abi.ExportConfigure)
		}
		return nil
	}
	block, setup := setupBlock(p.info.Hooks, p.config)
	ptr, room, err := i.room(ctx, len(block))
	if err != nil {
		return err
	}
	copy(room, block)
	status, err := i.invoke(ctx, f, uint64(ptr), uint64(len(block)))
	if err != nil {
		return err
	}
	if abi.Status(status) == abi.Answered {
		return nil
	}
	reply, ok := i.memory.Read(ptr+setup.Message.Offset, setup.Message.Size)
	if text := wire.Clean(abi.Messages(reply).First()); ok && text != "" {
		return fmt.Errorf("config: %s", text)
	}
	return fmt.Errorf("config: refused with status %d", int32(status))
}

func setupBlock(hooks []policy.Hook, config []byte) ([]byte, abi.Setup) {
	const message = 2 * abi.MaxMessage
	at := uint32(abi.SetupSize)
	setup := abi.Setup{Minor: abi.Minor, Config: abi.Span{Offset: at, Size: uint32(len(config))}}
	at = (at + uint32(len(config)) + abi.Align - 1) &^ (abi.Align - 1)
	setup.Message = abi.Span{Offset: at, Size: message}
	setup.Total = at + message
	setup.Strides()
	for _, h := range hooks {
		_, hook := hookExport(h)
		setup.Hooks |= 1 << hook
	}
	block := make([]byte, setup.Total)
	setup.Put(block)
	copy(block[setup.Config.Offset:], config)
	abi.Messages(block[at:]).Reset()
	return block, setup
}

// visit runs f with a new budget.
func (i *instance) visit(ctx context.Context, b budget, m moment, f func(context.Context) error) error {
	if i.timer == nil {
		i.timer = time.NewTimer(b.deadline) //nolint:forbidigo // the deadline for emergencies is wall time
	} else {
		i.timer.Reset(b.deadline)
	}
	defer i.timer.Stop()
	i.call = call{Context: ctx, expired: i.timer.C, fuel: i.fuel, left: b.fuel, clock: m.nanos}
	i.call.random.Seed(m.seed, 0x5f0e5a7e)
	if i.fuel != nil {
		first := min(slice, i.call.left)
		i.call.left -= first
		i.fuel.Set(uint64(first))
		i.depth.Set(0)
	}
	return f(&i.call) //nolint:contextcheck // it has ctx inside
}

// used returns the fuel that the last visit used.
func (i *instance) used(b budget) uint64 {
	return uint64(max(0, b.fuel-i.call.left-int64(i.fuel.Get())))
}

// room asks the guest for a buffer and returns its address and its bytes. The bytes
// are valid until the guest runs again.
func (i *instance) room(ctx context.Context, size int) (uint32, []byte, error) {
	if size > maxReply {
		return 0, nil, fmt.Errorf("batch of %d bytes, at most %d are sent", size, maxReply)
	}
	got, err := i.invoke(ctx, i.alloc, uint64(size))
	if err != nil {
		return 0, nil, err
	}
	ptr := uint32(got)
	switch {
	case ptr == 0:
		return 0, nil, &policy.Fault{Kind: policy.FaultMemory, Message: fmt.Sprintf("no room for a batch of %d bytes", size)}
	case ptr%abi.Align != 0:
		return 0, nil, &policy.Fault{Kind: policy.FaultBadReply, Message: fmt.Sprintf("buffer at %#x is not aligned to %d", ptr, abi.Align)}
	}
	room, ok := i.memory.Read(ptr, uint32(size))
	if !ok {
		return 0, nil, &policy.Fault{Kind: policy.FaultBadReply, Message: fmt.Sprintf("buffer of %d bytes at %#x is outside the memory", size, ptr)}
	}
	return ptr, room, nil
}

// invoke calls an exported function. It returns every failure as a fault or, when
// the caller's context ended, as the caller's error.
func (i *instance) invoke(ctx context.Context, f api.Function, args ...uint64) (uint64, error) {
	copy(i.stack[:], args)
	err := f.CallWithStack(ctx, i.stack[:])
	// A guest that was told to stop may return normally before its next safepoint.
	if err == nil && i.call.fault == nil {
		return i.stack[0], nil
	}
	return 0, i.explain(ctx, err)
}

// explain returns why a call failed.
func (i *instance) explain(ctx context.Context, err error) error {
	var exit *sys.ExitError
	switch {
	case i.call.cancelled:
		return ctx.Err()
	case i.call.fault != nil:
		return i.withLog(i.call.fault.Kind, i.call.fault.Message)
	case i.depth != nil && uint32(i.depth.Get()) > i.maxDepth:
		return i.withLog(policy.FaultDepth, fmt.Sprintf("call depth above %d", i.maxDepth))
	case errors.As(err, &exit):
		return i.withLog(policy.FaultTrap, fmt.Sprintf("exited with code %d", exit.ExitCode()))
	case strings.Contains(err.Error(), "stack overflow"):
		return i.withLog(policy.FaultDepth, "stack overflow")
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return i.withLog(policy.FaultTrap, strings.TrimPrefix(first, "wasm error: "))
}

// withLog adds the end of the guest's log, where Go writes its panics.
func (i *instance) withLog(kind policy.FaultKind, message string) error {
	if tail := i.call.log.String(); tail != "" {
		message += ": " + wire.Clean([]byte(tail))
	}
	return &policy.Fault{Kind: kind, Message: wire.Clean([]byte(message))}
}

func (i *instance) close(ctx context.Context) {
	if i.mod != nil {
		_ = i.mod.Close(ctx) // it can only report the exit code
	}
}
