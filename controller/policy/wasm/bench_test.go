package wasm

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/enginetest"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/policy/wasm/meter"
	"spokeshave.dev/sdk/abi"
)

// BenchmarkCompile is what it costs to take a policy live.
func BenchmarkCompile(b *testing.B) {
	src := source(goGuest(b))
	src.Config = []byte(`{"avoid": ["m7i"]}`)
	for b.Loop() {
		p, err := (&Engine{}).Compile(b.Context(), src)
		if err != nil {
			b.Fatal(err)
		}
		if err := p.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRank ranks 1,000 offerings with one policy in every language, in
// place and out of it: x-native is the ratio to Go without WebAssembly, of the
// fastest calls (least-µs), for others were interrupted.
func BenchmarkRank(b *testing.B) {
	in := input(1000)
	least := func(b *testing.B, run func()) time.Duration {
		took := time.Hour
		for b.Loop() {
			begun := time.Now()
			run()
			took = min(took, time.Since(begun))
		}
		b.ReportMetric(float64(took.Nanoseconds())/1000, "least-µs")
		return took
	}
	var native time.Duration
	b.Run("native", func(b *testing.B) {
		scores := make([]float64, len(in.Rows))
		native = least(b, func() {
			for i := range in.Rows {
				scores[i] = price(&in.Rows[i])
			}
		})
	})
	for _, language := range []string{"none", "c", "rust", "assemblyscript", "go"} {
		b.Run("guest="+language, func(b *testing.B) {
			src := source(benchGuest(b, language))
			if language != "none" {
				src.Config = []byte(`{"plain": true}`)
			}
			p := compile(b, src)
			ctx := b.Context()
			b.ReportAllocs()
			took := least(b, func() {
				answers, err := p.Rank(ctx, in)
				if err != nil {
					b.Fatal(err)
				}
				in.Reuse = answers
			})
			b.ReportMetric(float64(p.Stats().FuelHigh)/float64(len(in.Rows)), "fuel/row")
			b.ReportMetric(float64(took)/float64(native), "x-native")
		})
	}
}

// BenchmarkMetering ranks 1,000 offerings with a guest as it was built and as
// the host runs it, in turns: overhead-% is what fuel, depth and safepoints take
// of the guest's time, encoding and decoding left out. The fastest call of each
// counts: others were interrupted.
func BenchmarkMetering(b *testing.B) {
	for _, language := range []string{"c", "rust", "assemblyscript", "go"} {
		b.Run("guest="+language, func(b *testing.B) {
			src := source(benchGuest(b, language))
			src.Config = []byte(`{"plain": true}`)
			metered, err := meter.Rewrite(src.Module, meter.Defaults())
			if err != nil {
				b.Fatal(err)
			}
			batch := batch(b, 1000)
			took := [2]time.Duration{time.Hour, time.Hour}
			var runs [2]func()
			for i, module := range [][]byte{src.Module, metered.Bytes} {
				m := start(b, src, module)
				ptr, f, stack := m.send(batch), m.mod.ExportedFunction(abi.ExportRank), make([]uint64, 2)
				runs[i] = func() {
					stack[0], stack[1] = ptr, uint64(len(batch))
					if err := f.CallWithStack(m.ctx, stack); err != nil || stack[0] != 0 {
						b.Fatalf("status %d, %v", stack[0], err)
					}
				}
				runs[i]()
			}
			for b.Loop() {
				for i, run := range runs {
					begun := time.Now()
					run()
					took[i] = min(took[i], time.Since(begun))
				}
			}
			b.ReportMetric(float64(took[0].Nanoseconds())/1000, "plain-µs")
			b.ReportMetric(100*(float64(took[1])/float64(took[0])-1), "overhead-%")
		})
	}
}

// BenchmarkFirstUse is the time from a ConfigMap to the first answer of its
// policy, nothing compiled before.
func BenchmarkFirstUse(b *testing.B) {
	for _, language := range []string{"c", "rust", "assemblyscript", "go"} {
		b.Run("guest="+language, func(b *testing.B) {
			cm := enginetest.Contents{
				Settings: "hooks: [rank]\nconfig: {plain: true}\n",
				Binary:   map[string][]byte{"module.wasm.gz": zipped(b, benchGuest(b, language))},
			}.ConfigMap("p")
			in := input(1000)
			for b.Loop() {
				l := enginetest.Loader(Name, &Engine{})
				if _, err := l.Apply(b.Context(), cm); err != nil {
					b.Fatal(err)
				}
				panel := policy.NewPanel(l.Policies(), nil)
				if panel.Rank(b.Context(), &model.Pool{Name: "default"}, in); len(panel.Uses()) != 1 || panel.Uses()[0].Faults != 0 {
					b.Fatalf("%+v", panel.Uses())
				}
				if _, err := l.Delete(b.Context(), load.Key{Namespace: enginetest.Namespace, Name: "p"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func zipped(b *testing.B, module []byte) []byte {
	b.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(module); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

// benchGuest is the policy of test/guests in a language.
func benchGuest(b *testing.B, language string) []byte {
	b.Helper()
	switch language {
	case "none":
		return guest{}.bytes()
	case "go":
		return buildGo(b, "../../../test/guests/go")
	}
	module, err := os.ReadFile(filepath.Join("../../../test/guests", language, "module.wasm"))
	if err != nil {
		b.Fatal(err)
	}
	return module
}

// price is what the guests reckon.
func price(o *policy.RankRow) float64 {
	pods := float64(max(o.PodsFit, 1))
	eff := o.Cost / pods
	if o.CapacityType == model.Spot {
		eff *= 1 + 1.5*o.Interruption
	}
	cpu, memory := max(0, (o.VCPU-pods*0.5)/o.VCPU), max(0, (o.MemoryGiB-pods*2)/o.MemoryGiB)
	eff *= 1 + 0.5*cpu + 0.5*memory
	if o.GPUs > 0 {
		eff *= 4
	}
	return eff
}
