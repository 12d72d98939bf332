package wasm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"spokeshave.dev/controller/policy"
)

// goGuest builds a policy written in Go with the standard toolchain.
func goGuest(t testing.TB, dir string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "module.wasm")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", out, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", dir, err, text)
	}
	module, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

const example = "../../../examples/wasm-rank-go"

func TestGoGuest(t *testing.T) {
	src := source(goGuest(t, example))
	src.Config = []byte(`{"avoid": ["m7i", "c7g"], "factor": 4}`)
	p := compile(t, src)
	in := input(1000)
	for range 3 {
		got, err := p.Rank(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range in.Rows {
			want, why := row.Cost, ""
			if row.Family == "m7i" || row.Family == "c7g" {
				want, why = 4*row.Cost, "family to avoid: cost counted 4 times"
			}
			if got[i].Score != want || got[i].Reason != why {
				t.Fatalf("row %d (%s): %+v, want %v", i, row.InstanceType, got[i], want)
			}
		}
	}
	t.Logf("%d bytes, at most %d fuel for %d rows", len(src.Module), p.Stats().FuelHigh, len(in.Rows))

	for config, want := range map[string]string{
		`{"avoid": ["m7i"], "faktor": 2}`: "config.faktor: unknown key",
		`{}`:                              "name at least one",
		`{"avoid": "m7i"}`:                "config.avoid: not a list",
	} {
		src.Config = []byte(config)
		if _, err := (&Engine{}).Compile(t.Context(), src); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", config, err, want)
		}
	}
	src.Config = []byte(`{"avoid": ["m7i"]}`)
	src.Info.Hooks = append(src.Info.Hooks, policy.HookConsolidate)
	if _, err := (&Engine{}).Compile(t.Context(), src); err == nil || !strings.Contains(err.Error(), "does not register") {
		t.Errorf("a hook that the guest does not register: %v", err)
	}
}

func BenchmarkRank(b *testing.B) {
	in := input(1000)
	for name, module := range map[string][]byte{"guest=go": goGuest(b, example), "guest=empty": guest{}.bytes()} {
		b.Run(name, func(b *testing.B) {
			src := source(module)
			if name == "guest=go" {
				src.Config = []byte(`{"avoid": ["m7i"]}`)
			}
			p := compile(b, src)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Rank(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(p.Stats().FuelHigh)/float64(len(in.Rows)), "fuel/row")
		})
	}
}
