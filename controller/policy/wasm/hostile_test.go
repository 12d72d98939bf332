package wasm

import (
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
	return map[string]guest{
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
