package failclosed

import (
	"context"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/test/kit/brokenpolicy"
)

// faults are the rows of policies that load, and fail when they are asked.
func faults() rows {
	return rows{
		"it traps": func(k brokenpolicy.Kind) []setting { return []setting{traps(k), wasmTraps(k)} },
		"it has no fuel left (Wasm)": func(k brokenpolicy.Kind) []setting {
			return []setting{{name: "a loop", revisions: one(k.Wasm(module(k.Hook, endless), "limits: {fuel: 1M}")), fault: policy.FaultFuel}}
		},
		"its calls are too deep (Wasm)": func(k brokenpolicy.Kind) []setting {
			return []setting{{name: "a recursion", revisions: one(k.Wasm(module(k.Hook, recursion))), fault: policy.FaultDepth}}
		},
		"its deadline passes":                   func(k brokenpolicy.Kind) []setting { return []setting{late(k)} },
		"its answer cannot be used":             func(k brokenpolicy.Kind) []setting { return []setting{unusable(k)} },
		"it answers some of the questions only": func(k brokenpolicy.Kind) []setting { return []setting{partial(k)} },
		"its breaker is open":                   func(k brokenpolicy.Kind) []setting { return []setting{tripped(k)} },
		"it traps, and its caps are known": func(k brokenpolicy.Kind) []setting {
			return []setting{learned(traps(k), k)}
		},
		"it traps, its caps are known, and it may refuse launches": func(k brokenpolicy.Kind) []setting {
			in := learned(traps(k), k)
			if k.Hook == policy.HookCeiling {
				in.revisions = one(k.Rego(trap(k) + "\n" + `deny contains "x" if input.launch.gpus > 0`))
			}
			return []setting{in}
		},
	}
}

func one(c brokenpolicy.Contents) []brokenpolicy.Contents { return []brokenpolicy.Contents{c} }

// zero is a number of the question that is 0 in the decisions that count, and known to no
// question with which a policy is tried when it is loaded.
func zero(h policy.Hook) string {
	return map[policy.Hook]string{
		policy.HookRank: "input.offering.running", policy.HookConsolidate: "input.candidate.pods", policy.HookCeiling: `input.spend["cluster"].nodes`,
	}[h]
}

// rule is a rule of the hook that refuses everything when the condition holds.
func rule(h policy.Hook, condition string) string {
	head := map[policy.Hook]string{
		policy.HookRank: `exclude contains "refused"`, policy.HookConsolidate: `deny contains "refused"`, policy.HookCeiling: `cap["cluster"] := {"hourly_usd": 0}`,
	}[h]
	return head + " if { " + condition + " }"
}

// trap is a rule that divides by zero. A ceiling's is a cap of 0.30 $ per hour while there
// is a node.
func trap(k brokenpolicy.Kind) string {
	if k.Hook == policy.HookCeiling {
		return `cap["cluster"] := {"hourly_usd": 0.3 / ` + zero(k.Hook) + `}`
	}
	return rule(k.Hook, "1 / "+zero(k.Hook)+" > 0")
}

func traps(k brokenpolicy.Kind) setting {
	return setting{name: "Rego", revisions: one(k.Rego(trap(k))), fault: policy.FaultTrap}
}

func wasmTraps(k brokenpolicy.Kind) setting {
	return setting{name: "Wasm", revisions: one(k.Wasm(module(k.Hook, unreachable))), fault: policy.FaultTrap}
}

func late(k brokenpolicy.Kind) setting {
	const long = "some i in numbers.range(1, 5000); some j in numbers.range(1, 5000); i * j == 0 - 1"
	return setting{
		name: "a long search", revisions: one(k.Rego(rule(k.Hook, zero(k.Hook)+" == 0; "+long), "limits: {deadline: 20ms}")), fault: policy.FaultDeadline,
	}
}

func unusable(k brokenpolicy.Kind) setting {
	negative := map[policy.Hook]string{
		policy.HookRank: `multiplier["x"] := 0 - 1`, policy.HookConsolidate: `hold["x"] := 0 - 1`, policy.HookCeiling: `cap["cluster"] := {"hourly_usd": 0 - 1}`,
	}[k.Hook]
	return setting{name: "a negative number", revisions: one(k.Rego(negative + " if " + zero(k.Hook) + " == 0")), fault: policy.FaultBadReply}
}

// partial answers one question fewer than it is asked. A ceiling answers about caps, and
// traps when it is asked about the launches.
func partial(k brokenpolicy.Kind) setting {
	if k.Hook == policy.HookCeiling {
		rules := `cap["cluster"] := {"hourly_usd": 1000}` + "\n" + `deny contains "x" if 1 / input.launch.gpus > 0`
		return setting{name: "no answer about launches", revisions: one(k.Rego(rules)), fault: policy.FaultTrap}
	}
	return setting{name: "one fewer", revisions: one(k.Good()), engines: map[string]policy.Engine{"rego": shortened{}}, fault: policy.FaultBadReply}
}

// tripped traps in three decisions before.
func tripped(k brokenpolicy.Kind) setting {
	in := traps(k)
	asks := waiting // a ceiling answers about a cluster with a node
	if k.Hook == policy.HookConsolidate {
		asks = empty
	}
	for range 3 {
		in.earlier = append(in.earlier, asks(moment))
	}
	in.fault = policy.FaultTripped
	return in
}

// learned is a setting after a decision in which the policy has answered.
func learned(in setting, k brokenpolicy.Kind) setting {
	if k.Hook == policy.HookCeiling {
		in.earlier = []*model.Snapshot{busy(moment)}
	}
	return in
}

// shortened compiles Rego policies that leave their last answer out.
type shortened struct{}

// Compile implements policy.Engine.
func (shortened) Compile(ctx context.Context, src *policy.Source) (policy.Compiled, error) {
	c, err := engine.All()["rego"].Compile(ctx, src)
	return &curt{c}, err
}

type curt struct{ policy.Compiled }

func (c *curt) Rank(ctx context.Context, in *policy.RankInput) ([]policy.RankAnswer, error) {
	out, err := c.Compiled.Rank(ctx, in)
	return out[:max(0, len(out)-1)], err
}

func (c *curt) Consolidate(ctx context.Context, in *policy.ConsolidateInput) ([]policy.ConsolidateAnswer, error) {
	out, err := c.Compiled.Consolidate(ctx, in)
	return out[:max(0, len(out)-1)], err
}

// Bodies of functions (i32 i32) -> i32 in WebAssembly.
const (
	unreachable = "\x00"
	endless     = "\x03\x40\x0c\x00\x0b\x00" // loop br 0 end unreachable
	recursion   = "\x20\x00\x20\x01\x10\x00" // local.get 0 local.get 1 call 0
)

// module returns a WebAssembly module with one hook, whose body runs unless the question
// is empty: without rows, or for a ceiling without scopes.
func module(h policy.Hook, body string) []byte {
	count := map[policy.Hook]byte{policy.HookRank: 64, policy.HookConsolidate: 64, policy.HookCeiling: 48}[h]
	// if the count at the header's offset is 0, return 0
	body = "\x20\x00\x28\x02" + string([]byte{count}) + "\x45\x04\x40\x41\x00\x0f\x0b" + body
	function := func(code string) string { return sized("\x00" + code + "\x0b") }
	export := func(name string, kind, index byte) string { return sized(name) + string([]byte{kind, index}) }
	sections := []string{
		"\x01" + sized("\x03\x60\x02\x7f\x7f\x01\x7f\x60\x01\x7f\x01\x7f\x60\x00\x01\x7f"), // types
		"\x03" + sized("\x03\x00\x01\x02"),                                                 // functions
		"\x05" + sized("\x01\x01\x10\x20"),                                                 // memory of 16 to 32 pages
		"\x07" + sized("\x04"+export("memory", 2, 0)+export("spokeshave_"+string(h), 0, 0)+export("spokeshave_alloc", 0, 1)+export("spokeshave_abi_v1", 0, 2)),
		"\x0a" + sized("\x03"+function(body)+function("\x41\x80\x80\x04")+function("\x41\x00")),
	}
	return []byte("\x00asm\x01\x00\x00\x00" + strings.Join(sections, ""))
}

// sized returns the bytes behind their number, which must be below 128.
func sized(b string) string { return string([]byte{byte(len(b))}) + b }
