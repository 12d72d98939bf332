package wasm

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/wasm/meter"
)

// Error numbers of WASI preview 1.
const (
	wasiOK     = 0
	wasiBadf   = 8
	wasiFault  = 21
	wasiInval  = 28
	wasiNoent  = 44
	wasiSpipe  = 70
	maxVectors = 1024
	maxEvents  = 64
	maxRandom  = 64 << 10
)

// The fuel that guests pay for host work that grows with their request: one unit for
// randomPerFuel random bytes, and fuelPerItem units for a vector or event.
const (
	randomPerFuel = 8
	fuelPerItem   = 8
)

// wasi returns the functions of WASI preview 1 that the Go toolchain links, and some
// that C libraries link. They are deterministic: there are no files, arguments or
// environment; the clock is the decision's, and sleeping advances it; randomness
// comes from the decision's seed; output goes to the log.
func wasi() []hostFunc {
	return []hostFunc{
		result("args_get", params(2), nothing),
		result("args_sizes_get", params(2), noSizes),
		result("environ_get", params(2), nothing),
		result("environ_sizes_get", params(2), noSizes),
		result("clock_time_get", meter.I32+meter.I64+meter.I32, clockTime),
		result("fd_close", params(1), noFile),
		result("fd_fdstat_get", params(2), stat),
		result("fd_fdstat_set_flags", params(2), nothing),
		result("fd_prestat_get", params(2), noFile),
		result("fd_prestat_dir_name", params(3), noFile),
		result("fd_read", params(4), noFile),
		result("fd_seek", meter.I32+meter.I64+params(2), noSeek),
		result("fd_write", params(4), write),
		result("path_open", params(5)+meter.I64+meter.I64+params(2), noPath),
		result("poll_oneoff", params(4), poll),
		result("random_get", params(2), random),
		result("sched_yield", "", nothing),
		{"proc_exit", meter.Signature{Params: params(1)}, exit},
	}
}

// result wraps a function that returns an error number.
func result(name, in string, f func(*call, api.Memory, []uint64) uint64) hostFunc {
	return hostFunc{name, meter.Signature{Params: in, Results: meter.I32}, func(ctx context.Context, mod api.Module, stack []uint64) {
		mem := mod.Memory()
		if mem == nil {
			stack[0] = wasiFault
			return
		}
		c := callOf(ctx)
		c.find(mod)
		stack[0] = f(c, mem, stack)
	}}
}

func nothing(*call, api.Memory, []uint64) uint64 { return wasiOK }
func noFile(*call, api.Memory, []uint64) uint64  { return wasiBadf }
func noSeek(*call, api.Memory, []uint64) uint64  { return wasiSpipe }
func noPath(*call, api.Memory, []uint64) uint64  { return wasiNoent }

func noSizes(_ *call, mem api.Memory, stack []uint64) uint64 {
	return faultUnless(mem.WriteUint32Le(api.DecodeU32(stack[0]), 0) && mem.WriteUint32Le(api.DecodeU32(stack[1]), 0))
}

// clockTime returns the decision's time for every clock.
func clockTime(c *call, mem api.Memory, stack []uint64) uint64 {
	return faultUnless(mem.WriteUint64Le(api.DecodeU32(stack[2]), uint64(c.clock)))
}

func random(c *call, mem api.Memory, stack []uint64) uint64 {
	size := api.DecodeU32(stack[1])
	if size > maxRandom {
		return wasiInval
	}
	b, ok := mem.Read(api.DecodeU32(stack[0]), size)
	if !ok {
		return wasiFault
	}
	if !c.pay(int64(size / randomPerFuel)) {
		return wasiFault
	}
	var word [8]byte
	for len(b) > 0 {
		binary.LittleEndian.PutUint64(word[:], c.random.Uint64())
		b = b[copy(b, word[:]):]
	}
	return wasiOK
}

// stat describes standard input, output and error as character devices.
func stat(_ *call, mem api.Memory, stack []uint64) uint64 {
	if api.DecodeU32(stack[0]) > 2 {
		return wasiBadf
	}
	b, ok := mem.Read(api.DecodeU32(stack[1]), 24)
	if !ok {
		return wasiFault
	}
	clear(b)
	b[0] = 2 // character device
	return wasiOK
}

func write(c *call, mem api.Memory, stack []uint64) uint64 {
	if fd := api.DecodeU32(stack[0]); fd != 1 && fd != 2 {
		return wasiBadf
	}
	count := api.DecodeU32(stack[2])
	if count > maxVectors {
		return wasiInval
	}
	vectors, ok := mem.Read(api.DecodeU32(stack[1]), 8*count)
	if !ok {
		return wasiFault
	}
	if !c.pay(int64(count) * fuelPerItem) {
		return wasiFault
	}
	var total uint32
	for i := range int(count) {
		size := binary.LittleEndian.Uint32(vectors[8*i+4:])
		text, ok := mem.Read(binary.LittleEndian.Uint32(vectors[8*i:]), size)
		if !ok {
			return wasiFault
		}
		c.write(text)
		total += size
	}
	return faultUnless(mem.WriteUint32Le(api.DecodeU32(stack[3]), total))
}

// poll answers every subscription at once. A wait for a clock advances the clock
// instead.
func poll(c *call, mem api.Memory, stack []uint64) uint64 {
	count := api.DecodeU32(stack[2])
	if count == 0 || count > maxEvents {
		return wasiInval
	}
	in, ok := mem.Read(api.DecodeU32(stack[0]), 48*count)
	if !ok {
		return wasiFault
	}
	out, ok := mem.Read(api.DecodeU32(stack[1]), 32*count)
	if !ok {
		return wasiFault
	}
	if !c.pay(int64(count) * fuelPerItem) {
		return wasiFault
	}
	le := binary.LittleEndian
	wake := c.clock
	var events [32 * maxEvents]byte // the areas may overlap
	for i := range int(count) {
		s, e := in[48*i:48*i+48], events[32*i:32*i+32]
		copy(e, s[:8]) // user data
		e[10] = s[8]
		if s[8] != 0 { // not a clock
			le.PutUint16(e[8:], wasiBadf)
			continue
		}
		timeout, absolute := int64(min(le.Uint64(s[24:]), 1<<62)), s[40]&1 != 0
		if !absolute {
			timeout = c.clock + min(timeout, 1<<62-min(c.clock, 1<<62))
		}
		wake = max(wake, timeout)
	}
	copy(out, events[:32*count])
	c.clock = wake
	return faultUnless(mem.WriteUint32Le(api.DecodeU32(stack[3]), count))
}

// exit implements proc_exit(code). It does return, although the guest does not
// expect that: the guest stops at its next function call or loop iteration.
func exit(ctx context.Context, _ api.Module, stack []uint64) {
	callOf(ctx).stop(policy.FaultTrap, fmt.Sprintf("exited with code %d", api.DecodeU32(stack[0])))
}

// faultUnless returns the error number for an invalid address unless ok is true.
func faultUnless(ok bool) uint64 { //nolint:revive // a result, not a switch
	if ok {
		return wasiOK
	}
	return wasiFault
}
