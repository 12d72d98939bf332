package wasm

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/model"
	"spokeshave.dev/controller/policy"
	"spokeshave.dev/controller/policy/load"
)

// hostile are modules that behave while they are tried out, and no more.
func hostile() map[string]guest {
	after := func(body []byte) []byte { // the try-out has no rows
		return cat("\x20\x00\x28\x02", uleb(nil, 64), "\x45\x04\x40\x41\x00\x0f\x0b", body)
	}
	fill := cat("\x41\x00\x41\x07\x3f\x00\x41\x10\x74\xfc\x0b\x00")
	tree := guest{} // 2^40 calls without a loop
	for i := range 40 {
		next := tree.first() + i + 1
		tree.more = append(tree.more, cat(callTo(next), callTo(next)))
	}
	tree.more = append(tree.more, nil)
	tree.rank = after(cat(callTo(tree.first()), i32(0)))
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
		"fill":      {rank: after(cat("\x03\x40", fill, "\x0c\x00\x0b", unreachable))},
		"grow":      {rank: after(cat("\x03\x40\x41\x01\x40\x00", drop, "\x0c\x00\x0b", unreachable))},
		"trap":      {rank: after(cat(unreachable))},
		"lie":       {rank: after(cat(put32(16, i32(-8)), i32(0)))},
		"negative":  {rank: after(cat(put64(0, f64(-1)), i32(0)))},
		"status":    {rank: after(i32(99))},
	}
}

// TestHostilePolicies: in a decision, what a hostile policy does is what its
// failure policy says; another policy keeps answering; the status shows it;
// and the controller's memory is back when the policy is gone.
func TestHostilePolicies(t *testing.T) {
	const ns = "spokeshave"
	double := guest{rank: cat("\x20\x00\x28\x02", uleb(nil, 64), "\x45\x04\x40\x41\x00\x0f\x0b", put64(0, f64(7)), i32(0))}
	for name, g := range hostile() {
		for _, failure := range []policy.FailurePolicy{policy.Ignore, policy.Fail} {
			t.Run(name+"/"+string(failure), func(t *testing.T) {
				before := heap()
				l := load.New(load.Config{Namespace: ns, Engines: map[string]policy.Engine{Name: &Engine{}}, Now: func() time.Time { return time.Unix(0, 0) }})
				apply(t, l, "bad", "failurePolicy: "+string(failure)+"\n", g)
				apply(t, l, "good", "priority: 1\n", double)
				for i := range 4 {
					in := input(3)
					panel := policy.NewPanel(l.Policies(), nil)
					out := panel.Rank(t.Context(), &model.Pool{Name: "default"}, in)
					bad := panel.Uses()[0]
					if bad.Name != "bad" || bad.Faults != 1 {
						t.Fatalf("call %d: %+v", i, bad)
					}
					if refused := out.Refused != nil; refused != (failure == policy.Fail) {
						t.Fatalf("call %d: refused %v under %s", i, refused, failure)
					}
					if failure == policy.Ignore && out.Tiers[0][0].Cost != 7 {
						t.Errorf("call %d: the other policy was not heard: %+v", i, out.Tiers[0])
					}
				}
				s := l.Status()[0]
				if s.Name != "bad" || s.State != load.Tripped || s.Reason == "" || s.Faults != 3 {
					t.Errorf("status %+v", s)
				}
				for _, name := range []string{"bad", "good"} {
					if _, err := l.Delete(t.Context(), load.Key{Namespace: ns, Name: name}); err != nil {
						t.Error(err)
					}
				}
				if after := heap(); after > before+32<<20 {
					t.Errorf("heap grew from %d to %d MiB", before>>20, after>>20)
				}
			})
		}
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

// TestDecompressionBombs: what decodes to more than a module may have is
// rejected before it takes the memory; the failure policy applies, or the last
// good version stays; another policy keeps answering.
func TestDecompressionBombs(t *testing.T) {
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
	const ns = "spokeshave"
	for _, failure := range []policy.FailurePolicy{policy.Ignore, policy.Fail} {
		t.Run(string(failure), func(t *testing.T) {
			l := load.New(load.Config{Namespace: ns, Engines: map[string]policy.Engine{Name: &Engine{}}, Now: func() time.Time { return time.Unix(0, 0) }})
			seven := guest{rank: cat("\x20\x00\x28\x02", uleb(nil, 64), "\x45\x04\x40\x41\x00\x0f\x0b", put64(0, f64(7)), i32(0))}
			apply(t, l, "good", "priority: 1\n", seven)
			apply(t, l, "mended", "", guest{})
			bomb := func(name string) *corev1.ConfigMap {
				return &corev1.ConfigMap{
					ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
					Data:       map[string]string{"policy.yaml": "apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [rank]\nfailurePolicy: " + string(failure) + "\n"},
					BinaryData: map[string][]byte{"module.wasm.gz": zipped.Bytes()},
				}
			}
			before := heap()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			allocated := m.TotalAlloc
			for _, name := range []string{"bomb", "mended"} {
				if _, err := l.Apply(t.Context(), bomb(name)); err == nil || !strings.Contains(err.Error(), "decodes to more than") {
					t.Fatalf("%s: %v", name, err)
				}
			}
			runtime.ReadMemStats(&m)
			if grown := m.TotalAlloc - allocated; grown > 128<<20 {
				t.Errorf("%d MiB were allocated for 512 in each of two bombs", grown>>20)
			}
			if after := heap(); after > before+8<<20 {
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
			for _, s := range l.Status() {
				if rejected := s.Name != "good"; rejected != (s.State == load.Rejected) || (s.Name == "bomb") != (s.Hash == "") {
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

func apply(t *testing.T, l *load.Loader, name, settings string, g guest) {
	t.Helper()
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "spokeshave", Name: name},
		Data:       map[string]string{"policy.yaml": "apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [rank]\n" + settings},
		BinaryData: map[string][]byte{"module.wasm": g.bytes()},
	}
	if _, err := l.Apply(t.Context(), cm); err != nil {
		t.Fatal(strings.TrimSpace(err.Error()))
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
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
