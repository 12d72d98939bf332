package wasm

import (
	"fmt"
	"runtime"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/wasm/meter"
)

// The limits of a policy, unless it asks for lower ones. One unit of fuel is about
// one instruction.
const (
	fuelRank  = 100_000_000
	fuelOther = 20_000_000
	fuelSetup = 200_000_000
	// slice is the fuel between two safepoints: 0.3 to 0.7 ms of work.
	slice = 1_000_000

	deadlineRank  = 250 * time.Millisecond
	deadlineOther = 100 * time.Millisecond
	deadlineSetup = 2 * time.Second

	pageSize   = 64 << 10
	maxReply   = 12 << 20
	maxLog     = 8 << 10
	maxConfig  = 256 << 10
	mostGuests = 4
)

// budget limits one call.
type budget struct {
	fuel     int64
	deadline time.Duration
}

// limits are the limits of one policy.
type limits struct {
	module meter.Limits
	hooks  map[policy.Hook]budget
	setup  budget
	guests int
}

// lower returns the defaults, lowered to the limits that a policy asks for.
func lower(ask policy.Limits) (limits, error) {
	l := limits{
		module: meter.Defaults(),
		hooks: map[policy.Hook]budget{
			policy.HookRank:        {fuelRank, deadlineRank},
			policy.HookConsolidate: {fuelOther, deadlineOther},
			policy.HookCeiling:     {fuelOther, deadlineOther},
		},
		setup:  budget{fuelSetup, deadlineSetup},
		guests: min(runtime.GOMAXPROCS(0), mostGuests),
	}
	if ask.Fuel > 0 {
		for hook, b := range l.hooks {
			b.fuel = min(b.fuel, int64(min(ask.Fuel, fuelSetup)))
			l.hooks[hook] = b
		}
	}
	if ask.Deadline > 0 {
		for hook, b := range l.hooks {
			b.deadline = min(b.deadline, ask.Deadline)
			l.hooks[hook] = b
		}
	}
	if ask.Memory > 0 {
		pages := ask.Memory / pageSize
		if pages == 0 {
			return l, fmt.Errorf("limits.memory: %d bytes are less than a page of %d", ask.Memory, pageSize)
		}
		l.module.Pages = uint32(min(pages, uint64(l.module.Pages)))
	}
	return l, nil
}
