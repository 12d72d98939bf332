package wasm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/wasm/meter"
	"spokeshave.dev/controller/policy/wire"
)

func source(module []byte) *policy.Source {
	return &policy.Source{
		Info:   policy.Info{Name: "p", Namespace: "n", Hooks: []policy.Hook{policy.HookRank}},
		Module: module,
	}
}

func compile(t testing.TB, src *policy.Source) *Policy {
	t.Helper()
	p, err := (&Engine{}).compile(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return p
}

func input(n int) *policy.RankInput {
	in := &policy.RankInput{
		Call: policy.Call{Time: time.Unix(1_700_000_000, 0), Seed: 7, Generation: 1},
		Pool: policy.PoolFacts{Name: "default", Labels: map[string]string{"team": "web"}, PendingPods: 3},
	}
	families := []string{"m7i", "m7g", "c7i", "c7g", "r7i"}
	for i := range n {
		family := families[i/6%len(families)]
		in.Rows = append(in.Rows, policy.RankRow{
			InstanceType: fmt.Sprintf("%s.x%d", family, i/6), Family: family, Zone: "us-west-2" + string(rune('a'+i%3)),
			CapacityType: [...]model.CapacityType{model.Spot, model.OnDemand}[i/3%2], Arch: "amd64",
			Billed: 0.1 + float64(i)/100, Cost: 0.1 + float64(i)/100, OnDemand: 0.3, VCPU: 2, MemoryGiB: 8, Interruption: 0.05,
		})
	}
	return in
}

func TestAnswer(t *testing.T) {
	p := compile(t, source(guest{rank: cat(put64(0, f64(2.5)), put32(8, i32(3)), put32(24+12, i32(1)), i32(0))}.bytes()))
	got, err := p.Rank(t.Context(), input(3))
	if err != nil {
		t.Fatal(err)
	}
	want := []policy.RankAnswer{{Score: 2.5, MaxNodes: 3}, {Exclude: true}, {Score: input(3).Rows[2].Cost}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s := p.Stats(); s.Calls != 1 || s.Faults != 0 || s.FuelHigh == 0 || s.FuelHigh > 100 {
		t.Errorf("%+v", s)
	}
	if _, err := p.Ceiling(t.Context(), &policy.CeilingInput{}); !errors.Is(err, policy.ErrNoOpinion) {
		t.Errorf("a hook that the policy does not have: %v", err)
	}
}

// TestFaults: whatever a module does, the call ends with the right fault, and
// another policy answers as before.
func TestFaults(t *testing.T) {
	tree := guest{}
	for i := range 30 {
		next := tree.first() + i + 1
		tree.more = append(tree.more, cat(callTo(next), callTo(next)))
	}
	tree.more = append(tree.more, nil)
	tree.rank = cat(callTo(tree.first()), i32(0))

	wide := guest{} // recursion with the largest frame that is allowed
	var pushes []byte
	for range 900 {
		pushes = cat(pushes, "\x23\x00") // global.get
	}
	wide.more = [][]byte{cat(pushes, callTo(wide.first()), strings.Repeat("\x24\x00", 900))}
	wide.rank = cat(callTo(wide.first()), i32(0))

	fill := cat("\x41\x00\x41\x07\x3f\x00\x41\x10\x74\xfc\x0b\x00") // fill 0..size with 7
	cases := map[string]struct {
		reason string
		guest  guest
		kind   policy.FaultKind
		text   string
	}{
		"endless loop":     {"fuel ends it", guest{rank: cat(forever, unreachable)}, policy.FaultFuel, "fuel"},
		"loopless tree":    {"2^30 calls without a loop", tree, policy.FaultFuel, "fuel"},
		"recursion":        {"depth ends it", guest{rank: cat("\x20\x00\x20\x01", callTo(0))}, policy.FaultDepth, "depth"},
		"wide recursion":   {"large frames count more", wide, policy.FaultDepth, "depth"},
		"fill":             {"bulk work is paid for", guest{rank: cat("\x03\x40", fill, "\x0c\x00\x0b", unreachable)}, policy.FaultFuel, "fuel"},
		"grow":             {"growing is paid for", guest{rank: cat("\x03\x40\x41\x00\x40\x00", drop, "\x0c\x00\x0b", unreachable)}, policy.FaultFuel, "fuel"},
		"unreachable":      {"a trap", guest{rank: cat(unreachable)}, policy.FaultTrap, "unreachable"},
		"out of bounds":    {"a trap", guest{rank: cat(i32(0x7ffffff0), "\x28\x02\x00")}, policy.FaultTrap, "out of bounds"},
		"division by zero": {"a trap", guest{rank: cat(i32(1), i32(0), "\x6d")}, policy.FaultTrap, "divide by zero"},
		"NaN":              {"not a cost", guest{rank: cat(put64(0, f64(math.NaN())), i32(0))}, policy.FaultBadReply, "row 0: score NaN"},
		"infinity":         {"not a cost", guest{rank: cat(put64(24, f64(math.Inf(1))), i32(0))}, policy.FaultBadReply, "row 1: score +Inf"},
		"negative":         {"not a cost", guest{rank: cat(put64(0, f64(-1)), i32(0))}, policy.FaultBadReply, "score -1"},
		"reason":           {"an offset outside", guest{rank: cat(put32(16, i32(-8)), i32(0))}, policy.FaultBadReply, "reason outside"},
		"flags":            {"unknown flags", guest{rank: cat(put32(12, i32(6)), i32(0))}, policy.FaultBadReply, "unknown flags"},
		"status":           {"a status that does not exist", guest{rank: i32(99)}, policy.FaultBadReply, "status 99"},
		"refused":          {"a status", guest{rank: i32(2)}, policy.FaultInternal, "refused the input"},
		"failed":           {"a status", guest{rank: i32(3)}, policy.FaultInternal, "failed"},
		"exit": {
			"leaving from within a loop", guest{
				imports: [][2]string{{"wasi_snapshot_preview1", "proc_exit"}},
				rank:    cat(i32(5), callTo(0), forever, unreachable),
			}, policy.FaultTrap, "exited with code 5",
		},
	}
	other := compile(t, source(guest{}.bytes()))
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			// The first call, with no rows, is the try-out: the fault waits for
			// a batch with rows.
			g := tc.guest
			g.rank = cat("\x20\x00\x28\x02", uleb(nil, 64), "\x45\x04\x40\x41\x00\x0f\x0b", g.rank)
			src := source(g.bytes())
			if tc.kind == policy.FaultFuel {
				// Little enough that a busy machine does not reach the wall
				// deadline first.
				src.Limits.Fuel = 5_000_000
			}
			p := compile(t, src)
			_, err := p.Rank(t.Context(), input(3))
			var f *policy.Fault
			if !errors.As(err, &f) || f.Kind != tc.kind || !strings.Contains(f.Message, tc.text) {
				t.Fatalf("%s: got %v, want %s with %q", tc.reason, err, tc.kind, tc.text)
			}
			if _, err := other.Rank(t.Context(), input(3)); err != nil {
				t.Errorf("another policy: %v", err)
			}
			for range 2 {
				_, _ = p.Rank(t.Context(), input(3))
			}
			if _, err := p.Rank(t.Context(), input(3)); !errors.As(err, &f) || f.Kind != policy.FaultTripped {
				t.Errorf("after three faults: %v", err)
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	bomb := guest{rank: cat(strings.Repeat("\x41\x00", 400), strings.Repeat("\x02\x40\x0b", 1500), strings.Repeat(drop, 400), i32(0))}
	cases := map[string]struct {
		reason string
		module []byte
		want   string
	}{
		"empty":         {"nothing", nil, "no module"},
		"text":          {"not a module", []byte("hello, world"), "not a WebAssembly"},
		"cut":           {"half a module", guest{}.bytes()[:100], "end"},
		"import":        {"a function that is not offered", guest{imports: [][2]string{{"wasi_snapshot_preview1", "sock_accept"}}}.bytes(), "imports wasi_snapshot_preview1.sock_accept: not available"},
		"safepoint":     {"the host's own", guest{imports: [][2]string{{meter.SafepointModule, meter.SafepointName}}}.bytes(), "not available"},
		"import type":   {"a function as something else", guest{imports: [][2]string{{"wasi_snapshot_preview1", "fd_close"}}}.bytes(), "it is (i32) -> (i32)"},
		"command":       {"a program", guest{exports: []string{"_start"}}.bytes(), "c-shared"},
		"no rank":       {"the hook is missing", guest{without: "spokeshave_rank"}.bytes(), "exports no function spokeshave_rank"},
		"no memory":     {"the memory is missing", guest{without: "memory"}.bytes(), "exports no memory"},
		"no version":    {"an unknown version", guest{without: "spokeshave_abi_v1"}.bytes(), "spokeshave_abi_v1"},
		"rank type":     {"a hook of another type", guest{rankType: typeOne}.bytes(), "exports spokeshave_rank as (i32) -> (i32)"},
		"counter":       {"a reserved name", guest{exports: []string{meter.FuelExport}}.bytes(), "reserved"},
		"global":        {"reaching for the fuel counter", guest{rank: cat("\x42\x7f\x24\x01", i32(0))}.bytes(), "no global 1"},
		"memory":        {"more memory than allowed", guest{memory: []byte("\x00\x90\x4e")}.bytes(), "at most 256"},
		"table":         {"a huge table", guest{table: []byte("\x70\x00\xff\xff\xff\x3f")}.bytes(), "table 0"},
		"start":         {"a start function that hangs", guest{start: cat(forever)}.bytes(), "start: Fuel"},
		"setup":         {"a configure that hangs", guest{setup: cat(forever, unreachable)}.bytes(), "start: Fuel"},
		"setup status":  {"a configure that refuses", guest{setup: i32(2)}.bytes(), "config: refused"},
		"small buffer":  {"no buffer", guest{alloc: i32(0)}.bytes(), "no room"},
		"odd buffer":    {"a buffer that is not aligned", guest{alloc: i32(65537)}.bytes(), "not aligned"},
		"wild buffer":   {"a buffer outside the memory", guest{alloc: i32(-16)}.bytes(), "outside the memory"},
		"first call":    {"a trap for an empty batch", guest{rank: cat(unreachable)}.bytes(), "try rank with an empty batch: Trap"},
		"compile bomb":  {"operands across blocks", bomb.bytes(), "too complex"},
		"loop bomb":     {"the dominator search is cubic", guest{more: [][]byte{cat(strings.Repeat("\x03\x40\x0b", 1000))}}.bytes(), "too complex"},
		"branch bomb":   {"200,000 edges", guest{more: [][]byte{cat("\x02\x40\x23\x00\x0e", uleb(nil, 200_000), make([]byte, 200_001), "\x0b")}}.bytes(), "too complex"},
		"call bomb":     {"every deep call gets a branch", guest{more: [][]byte{cat(strings.Repeat(string(callTo(guest{}.first())), 8000))}}.bytes(), "too complex"},
		"charge bomb":   {"every bulk operation gets three", guest{more: [][]byte{cat(strings.Repeat("\x41\x00\x41\x00\x41\x00\xfc\x0b\x00", 4000))}}.bytes(), "too complex"},
		"function bomb": {"a million functions of nothing", guest{more: slices.Repeat([][]byte{{}}, 1<<20)}.bytes(), "too complex"},
		"code bomb":     {"small functions, but very many calls", guest{more: slices.Repeat([][]byte{cat(strings.Repeat(string(callTo(guest{}.first())), 100))}, 2000)}.bytes(), "all functions together"},
		"invalid types": {"the engine's own validation", guest{rank: cat(f64(1))}.bytes(), "module: "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := (&Engine{patience: time.Hour}).Compile(t.Context(), source(tc.module))
			if err == nil {
				_ = p.Close(t.Context())
				t.Fatalf("%s was accepted", tc.reason)
			}
			if !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %q, want %q in one line", tc.reason, err, tc.want)
			}
		})
	}
}

func TestConfigNeedsConfigure(t *testing.T) {
	src := source(guest{}.bytes())
	src.Config = []byte(`{"a":1}`)
	if _, err := (&Engine{}).Compile(t.Context(), src); err == nil || !strings.Contains(err.Error(), "spokeshave_configure") {
		t.Errorf("a config that nobody reads: %v", err)
	}
	src.Module = guest{setup: i32(0)}.bytes()
	compile(t, src)
}

// TestDeadline: the wall deadline strikes at a safepoint, and a caller that
// gives up is no fault of the policy.
func TestDeadline(t *testing.T) {
	spin := guest{rank: cat("\x20\x00\x28\x02", uleb(nil, 64), "\x45\x04\x40\x41\x00\x0f\x0b", forever, unreachable)}
	src := source(spin.bytes())
	src.Limits.Deadline = time.Millisecond
	p := compile(t, src)
	var f *policy.Fault
	if _, err := p.Rank(t.Context(), input(1)); !errors.As(err, &f) || f.Kind != policy.FaultDeadline {
		t.Errorf("deadline: %v", err)
	}
	patient := compile(t, source(spin.bytes()))
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := patient.Rank(ctx, input(1)); !errors.Is(err, context.DeadlineExceeded) || errors.As(err, &f) {
		t.Errorf("caller's deadline: %v", err)
	}
	if s := patient.Stats(); s.Faults != 0 {
		t.Errorf("%+v", s)
	}
}

// TestFreshAfterFault: a guest that has trapped is not asked again.
func TestFreshAfterFault(t *testing.T) {
	// Counts its calls in a global and traps in the third, the try-out included.
	count := cat("\x23\x00\x41\x01\x6a\x24\x00\x23\x00\x41\x03\x46\x04\x40\x00\x0b", i32(0))
	p := compile(t, source(guest{rank: count}.bytes()))
	faults := 0
	in := input(1)
	for range 30 {
		in.Time = in.Time.Add(time.Hour) // longer than the breaker stays open
		if _, err := p.Rank(t.Context(), in); err != nil {
			faults++
		}
	}
	if faults < 8 || faults > 16 {
		t.Errorf("%d faults in 30 calls, %+v", faults, p.Stats())
	}
}

// TestConcurrent: callers never share an instance.
func TestConcurrent(t *testing.T) {
	// Stores the first row's cost, works, and stores the score from there.
	body := cat("\x20\x00\x28\x02", uleb(nil, 64), "\x45\x04\x40\x41\x00\x0f\x0b",
		"\x41\x00", "\x20\x00\x20\x00\x28\x02", uleb(nil, 56), "\x6a\x2b\x03\x08\x39\x03\x00", // mem[0] = cost
		i32(20000), "\x21\x02\x03\x40\x20\x02\x41\x01\x6b\x22\x02\x0d\x00\x0b",
		put64(0, []byte("\x41\x00\x2b\x03\x00")), i32(0))
	p := compile(t, source(guest{rank: body, locals: 1}.bytes()))
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Go(func() {
			for range 20 {
				in := input(1)
				in.Rows[0].Cost = float64(k)
				got, err := p.Rank(t.Context(), in)
				if err != nil || got[0].Score != float64(k) {
					t.Errorf("caller %d: %v, %v", k, got, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestDeterministicFuel(t *testing.T) {
	module := guest{rank: cat(i32(1234), "\x21\x02\x03\x40\x20\x02\x41\x01\x6b\x22\x02\x0d\x00\x0b", i32(0)), locals: 1}.bytes()
	var want uint64
	for range 3 {
		p := compile(t, source(module))
		if _, err := p.Rank(t.Context(), input(5)); err != nil {
			t.Fatal(err)
		}
		used := p.Stats().FuelHigh
		if want == 0 {
			want = used
		}
		if used != want || used < 1234*5 {
			t.Errorf("%d fuel, then %d", want, used)
		}
	}
}

// TestClosed: a decision that began with a policy ends with it, even if the
// policy has been replaced meanwhile.
func TestClosed(t *testing.T) {
	p := compile(t, source(guest{}.bytes()))
	before, err := p.Rank(t.Context(), input(9))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		after, err := p.Rank(t.Context(), input(9))
		if err != nil {
			t.Fatalf("after closing: %v", err)
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Error(diff)
		}
	}
}

// TestCloseWaits: calls at work end in their own time, and closing waits for them,
// as long as its context lets it.
func TestCloseWaits(t *testing.T) {
	p := compile(t, source(guest{}.bytes()))
	working, err := p.pool.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- p.Close(t.Context()) }()
	<-p.pool.closed // from here on it waits
	in := input(1)
	q := p.question(policy.HookRank, in.Call)
	q.layOut = func(e *wire.Encoder) (int, error) { return e.Rank(in) }
	q.decode = func(e *wire.Encoder, reply []byte) error { _, err := e.RankAnswers(reply, nil); return err }
	if err := working.ask(t.Context(), &q); err != nil {
		t.Errorf("a call at work while the policy is closed: %v", err)
	}
	select {
	case err := <-closed:
		t.Fatalf("closed before the call has ended: %v", err)
	default:
	}
	p.pool.give(t.Context(), working)
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// TestCloseGivesUp: a context that ends before the calls do ends the wait, and is no
// success.
func TestCloseGivesUp(t *testing.T) {
	p := compile(t, source(guest{}.bytes()))
	working, err := p.pool.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Close(over); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "still at work") {
		t.Errorf("closed with a call at work: %v", err)
	}
	p.pool.give(t.Context(), working)
}
