package wasm

import (
	"strings"
	"testing"

	"spokeshave.dev/controller/core/policy"
)

// TestMemoryOfAll: policies share the memory that all of them may use. One for which
// there is no room is refused with what to do; one that goes makes room; a revision
// takes the place of the one before it.
func TestMemoryOfAll(t *testing.T) {
	e := &Engine{Memory: 64 << 20}
	load := func(name string, memory uint64) (*Policy, error) {
		src := source(guest{}.bytes())
		src.Info.Name, src.Limits = name, policy.Limits{Memory: memory}
		return e.compile(t.Context(), src)
	}
	must := func(name string, memory uint64) *Policy {
		t.Helper()
		p, err := load(name, memory)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return p
	}
	refused := func(name string, memory uint64) {
		t.Helper()
		if _, err := load(name, memory); err == nil || !strings.Contains(err.Error(), "--wasm-memory") {
			t.Errorf("%s: %v", name, err)
		}
	}
	first := must("first", 16<<20)
	if n := uint64(first.limits.guests+1) * 16 << 20; n > e.Memory {
		t.Errorf("%d instances of 16 MiB in %d MiB", first.limits.guests+1, e.Memory>>20)
	}
	second := must("first", 16<<20) // the next revision, while the one before is in force
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, each := range []string{"a", "b"} { // beside the first there are at most 32 MiB
		must(each, 1<<20)
	}
	refused("large", 16<<20)
	refused("large", 16<<20) // what is refused holds nothing
	if err := second.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	must("large", 16<<20)
	if _, err := (&Engine{}).compile(t.Context(), source(guest{}.bytes())); err != nil {
		t.Errorf("without a limit: %v", err)
	}
}
