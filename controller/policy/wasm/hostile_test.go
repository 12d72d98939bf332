package wasm

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/enginetest"
	"spokeshave.dev/controller/policy/wasm/meter"
)

// provocation is how many rows make a hostile policy hostile.
const provocation = 3

// hostile are modules that behave but when they are asked about three rows.
func hostile() map[string]guest {
	after := func(body []byte) []byte { // return 0 if the header does not count 3 rows
		return cat("\x20\x00\x28\x02", uleb(nil, 64), i32(provocation), "\x47\x04\x40\x41\x00\x0f\x0b", body)
	}
	fill := cat("\x41\x00\x41\x07\x3f\x00\x41\x10\x74\xfc\x0b\x00")
	tree := guest{} // 2^40 calls without a loop
	for i := range 40 {
		next := tree.first() + i + 1
		tree.more = append(tree.more, cat(callTo(next), callTo(next)))
	}
	tree.more = append(tree.more, nil)
	tree.rank = after(cat(callTo(tree.first()), i32(0)))
	// 40,000 values, each with a place of its own in the frame.
	wide := strings.Repeat(strings.Repeat("\x23\x00\x41\x07\x73", 58)+strings.Repeat("\x6a", 57)+"\x24\x00", 700)
	random := [][2]string{{wasiModule, "random_get"}}
	// A message that says to be longer than its area, at offset 4 of it.
	message := cat("\x20\x00", "\x20\x00\x28\x02", uleb(nil, 112), "\x6a", i32(-1), "\x36\x02", uleb(nil, 4))
	return map[string]guest{
		"tree":      tree,
		"NaN":       {rank: after(cat(put64(0, f64(math.NaN())), i32(0)))},
		"infinity":  {rank: after(cat(put64(24, f64(math.Inf(1))), i32(0)))},
		"length":    {rank: after(cat(message, put32(16, i32(4)), i32(0)))},
		"random":    {imports: random, rank: after(cat("\x03\x40", i32(0), i32(65536), callTo(0), drop, "\x0c\x00\x0b", unreachable))},
		"loop":      {rank: after(cat(forever, unreachable))},
		"recursion": {rank: after(cat("\x20\x00\x20\x01", callTo(0)))},
		"frames":    {rank: after(cat(wide, "\x20\x00\x20\x01", callTo(0)))},
		"fill":      {rank: after(cat("\x03\x40", fill, "\x0c\x00\x0b", unreachable))},
		"grow":      {rank: after(cat("\x03\x40\x41\x01\x40\x00", drop, "\x0c\x00\x0b", unreachable))},
		"trap":      {rank: after(cat(unreachable))},
		"lie":       {rank: after(cat(put32(16, i32(-8)), i32(0)))},
		"negative":  {rank: after(cat(put64(0, f64(-1)), i32(0)))},
		"status":    {rank: after(i32(99))},
	}
}

// seven scores the first row with 7, and says nothing of no rows.
func seven() guest {
	return guest{rank: cat("\x20\x00\x28\x02", uleb(nil, 64), "\x45\x04\x40\x41\x00\x0f\x0b", put64(0, f64(7)), i32(0))}
}

func contents(settings string, g guest) enginetest.Contents {
	return enginetest.Contents{Settings: "hooks: [rank]\n" + settings, Binary: map[string][]byte{"module.wasm": g.bytes()}}
}

// TestHostilePolicies: in a decision, what a hostile policy does is what its
// failure policy says; another policy keeps answering; the status shows it;
// and the controller's memory is back when the policy is gone.
func TestHostilePolicies(t *testing.T) {
	for name, g := range hostile() {
		t.Run(name, func(t *testing.T) {
			suite := enginetest.Hostile{
				Engine: Name, New: func() policy.Engine { return &Engine{} }, Kept: 32 << 20,
				Bad: contents("", g), Good: contents("priority: 1\n", seven()), Ask: rankHostile,
			}
			suite.Run(t)
		})
	}
}

func rankHostile(ctx context.Context, panel *policy.Panel, failure policy.FailurePolicy) error {
	out := panel.Rank(ctx, &model.Pool{Name: "default"}, input(provocation))
	switch {
	case (out.Refused != nil) != (failure == policy.Fail):
		return fmt.Errorf("refused %+v", out.Refused)
	case failure == policy.Ignore && out.Tiers[0][0].Cost != 7:
		return fmt.Errorf("the other policy was not heard: %+v", out.Tiers[0])
	}
	return nil
}

// TestAfterHostile: the call after a hostile one is answered, by the spare that
// was ready before: nothing is compiled, and no instance has to start first.
// The instance that misbehaved and its memory are gone.
func TestAfterHostile(t *testing.T) {
	for name, g := range hostile() {
		t.Run(name, func(t *testing.T) {
			src := source(g.bytes())
			src.Limits.Fuel = 5_000_000 // reached before a busy machine's wall deadline
			p := compile(t, src)
			used := waiting(p)
			if _, err := p.Rank(t.Context(), input(provocation)); err == nil {
				t.Fatal("not hostile")
			}
			p.pool.spares.Wait()
			if !used.mod.IsClosed() {
				t.Error("the instance at fault still stands")
			}
			start := p.pool.start
			p.pool.start = func(context.Context) (*instance, error) { return nil, errors.New("started anew") }
			if len(p.pool.ready) == 0 {
				t.Fatal("no spare is ready")
			}
			in := input(provocation - 1)
			got, err := p.Rank(t.Context(), in)
			if err != nil || len(got) != len(in.Rows) || got[1].Score != in.Rows[1].Cost {
				t.Errorf("the next call: %+v, %v", got, err)
			}
			p.pool.spares.Wait()
			p.pool.start = start
			if size := waiting(p).memory.Size(); size != 16<<16 {
				t.Errorf("%d KiB of memory, as if it were the instance at fault", size>>10)
			}
		})
	}
}

// waiting is the instance that the next call gets.
func waiting(p *Policy) *instance {
	p.pool.stacked.Lock()
	defer p.pool.stacked.Unlock()
	return p.pool.idle[len(p.pool.idle)-1]
}

// BenchmarkAfterHostile measures what a hostile call costs everybody else;
// "none" is a guest that only refuses.
func BenchmarkAfterHostile(b *testing.B) {
	all := hostile()
	all["none"] = guest{rank: cat("\x20\x00\x28\x02", uleb(nil, 64), i32(provocation), "\x47\x04\x40\x41\x00\x0f\x0b", i32(2))}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.Run(name, func(b *testing.B) {
			p, bad, good := compile(b, source(all[name].bytes())), input(provocation), input(provocation-1)
			ask := func(in *policy.RankInput) func() error {
				return func() error { _, err := p.Rank(b.Context(), in); return err }
			}
			enginetest.After(b, ask(bad), ask(good))
		})
	}
}

// TestHostWork: what the host does for a guest is paid for, or a loop around it
// would run for seconds between two safepoints.
func TestHostWork(t *testing.T) {
	p := compile(t, source(guest{
		imports: [][2]string{{wasiModule, "random_get"}},
		rank:    cat(i32(0), i32(65536), callTo(0), drop, i32(0)),
	}.bytes()))
	if _, err := p.Rank(t.Context(), input(1)); err != nil {
		t.Fatal(err)
	}
	if used := p.Stats().FuelHigh; used < 65536/randomPerFuel || used > 65536/randomPerFuel+100 {
		t.Errorf("%d fuel for 65,536 random bytes", used)
	}
}

// TestUnpaidHostWork: where fuel is used up, the host does nothing more for a
// guest, also between two safepoints.
func TestUnpaidHostWork(t *testing.T) {
	const pages = 20 // one call each, from the second on
	var calls []byte
	for i := range pages {
		calls = cat(calls, i32((i+2)<<16), i32(65536), callTo(0), drop)
	}
	src := source(guest{imports: [][2]string{{wasiModule, "random_get"}}, memory: []byte("\x00\x20"), rank: cat("\x20\x00\x28\x02", uleb(nil, 64), "\x45\x04\x40\x41\x00\x0f\x0b", calls, i32(0))}.bytes())
	src.Limits.Fuel = 50_000
	p := compile(t, src)
	memory := waiting(p).memory
	var f *policy.Fault
	if _, err := p.Rank(t.Context(), input(1)); !errors.As(err, &f) || f.Kind != policy.FaultFuel {
		t.Fatalf("%v, want a fault for fuel", err)
	}
	done := 0
	for i := range pages {
		if page, ok := memory.Read(uint32(i+2)<<16, 65536); ok && slices.ContainsFunc(page, func(b byte) bool { return b != 0 }) {
			done++
		}
	}
	if want := 50_000 / (65536 / randomPerFuel); done != want {
		t.Errorf("%d calls were done, want the %d that were paid for", done, want)
	}
}

// TestFrames: recursion ends before its stack takes much memory, however large
// the frames of the compiled functions are.
func TestFrames(t *testing.T) {
	p := compile(t, source(hostile()["frames"].bytes()))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var f *policy.Fault
	if _, err := p.Rank(t.Context(), input(provocation)); !errors.As(err, &f) || f.Kind != policy.FaultDepth {
		t.Fatalf("%v, want a fault for depth", err)
	}
	p.pool.spares.Wait()
	runtime.ReadMemStats(&after)
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 48 { // 8 MiB of frames, doubled on the way there, and a spare
		t.Errorf("%d MiB for a stack of %d frames", took, meter.Defaults().Depth)
	}
}

// TestDecompressionBombs: what decodes to more than a module may have is
// rejected before it takes the memory; the failure policy applies, or the last
// good version stays; another policy keeps answering.
func TestDecompressionBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("unpacks half a gigabyte, which is slow under the race detector")
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	for range 512 { // 512 MiB in half a MiB
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, failure := range []policy.FailurePolicy{policy.Ignore, policy.Fail} {
		t.Run(string(failure), func(t *testing.T) {
			l := enginetest.Loader(Name, &Engine{})
			for name, c := range map[string]enginetest.Contents{"good": contents("priority: 1\n", seven()), "mended": contents("", guest{})} {
				if _, err := l.Apply(t.Context(), c.ConfigMap(name)); err != nil {
					t.Fatal(err)
				}
			}
			bomb := enginetest.Contents{
				Settings: "hooks: [rank]\nfailurePolicy: " + string(failure) + "\n",
				Binary:   map[string][]byte{"module.wasm.gz": zipped.Bytes()},
			}
			before := enginetest.Heap()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			allocated := m.TotalAlloc
			for _, name := range []string{"bomb", "mended"} {
				if _, err := l.Apply(t.Context(), bomb.ConfigMap(name)); err == nil || !strings.Contains(err.Error(), "decodes to more than") {
					t.Fatalf("%s: %v", name, err)
				}
			}
			runtime.ReadMemStats(&m)
			if grown := m.TotalAlloc - allocated; grown > 128<<20 {
				t.Errorf("%d MiB were allocated for 512 in each of two bombs", grown>>20)
			}
			if after := enginetest.Heap(); after > before+8<<20 {
				t.Errorf("heap grew from %d to %d MiB", before>>20, after>>20)
			}
			panel := policy.NewPanel(l.Policies(), nil)
			out := panel.Rank(t.Context(), &model.Pool{Name: "default"}, input(3))
			if refused := out.Refused != nil; refused != (failure == policy.Fail) || refused && out.Refused.Policy != "bomb" {
				t.Errorf("refused %+v under %s", out.Refused, failure)
			}
			if failure == policy.Ignore && out.Tiers[0][0].Cost != 7 {
				t.Errorf("the other policy was not heard: %+v", out.Tiers[0])
			}
			if n := len(l.Status()); n < 2 {
				t.Errorf("%d policies have a status, want the good one and the bombs", n)
			}
			for _, s := range l.Status() {
				if rejected := s.Name != "good"; rejected != (s.State == policy.StateRejected) || (s.Name == "bomb") != (s.Hash == "") {
					t.Errorf("status %+v", s)
				}
			}
		})
	}
}

// FuzzHost: whatever a guest passes, no function of the host panics or reaches
// beyond the guest's memory.
func FuzzHost(f *testing.F) {
	f.Add(make([]byte, 72), make([]byte, 64))
	f.Add(bytes.Repeat([]byte{0xff}, 72), []byte{})
	f.Add(bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 0}, 9), bytes.Repeat([]byte{1}, 200))
	f.Add(bytes.Repeat([]byte{40, 0, 0, 0, 0, 0, 0, 0}, 9), bytes.Repeat([]byte{0xfe}, 400))
	p, err := (&Engine{}).compile(f.Context(), source(guest{}.bytes()))
	if err != nil {
		f.Fatal(err)
	}
	functions := append(wasi(), hostFunc{name: "log", run: log}, hostFunc{name: "abort", run: abort}, hostFunc{name: "safepoint", run: safepoint})
	f.Fuzz(func(t *testing.T, arguments, memory []byte) {
		i, err := p.newInstance(t.Context())
		if fault := (*policy.Fault)(nil); errors.As(err, &fault) && fault.Kind == policy.FaultDeadline {
			t.Skip("the machine is too busy to start a guest")
		}
		if err != nil {
			t.Fatal(err)
		}
		defer i.close(t.Context())
		size := i.memory.Size()
		for _, fn := range functions {
			i.memory.Write(0, memory)
			i.memory.Write(size-uint32(min(len(memory), 1<<16)), memory[:min(len(memory), 1<<16)])
			stack := make([]uint64, 9)
			for k := range min(9, len(arguments)/8) {
				stack[k] = binary.LittleEndian.Uint64(arguments[8*k:])
			}
			c := &call{Context: t.Context(), left: 10}
			fn.run(c, i.mod, stack)
			if c.log.Len() > maxLog || i.memory.Size() != size {
				t.Fatalf("%s: a log of %d bytes, a memory of %d", fn.name, c.log.Len(), i.memory.Size())
			}
		}
	})
}

// TestCacheDir: compiled modules are kept, and a second engine answers from
// them.
func TestCacheDir(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		p, err := (&Engine{CacheDir: dir}).Compile(t.Context(), source(guest{}.bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Rank(t.Context(), input(2)); err != nil {
			t.Error(err)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if _, err := (&Engine{CacheDir: "/dev/null/x"}).Compile(t.Context(), source(guest{}.bytes())); err == nil {
		t.Error("a folder that cannot be")
	}
}
