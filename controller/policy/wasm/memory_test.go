package wasm

import (
	"context"
	"io"
	"strings"
	"testing"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/enginetest"
	"spokeshave.dev/controller/policy/load"
)

// TestMemoryOfAll: policies share the memory that all of them may use. One for which
// there is no room is refused with what to do; one that goes makes room; a revision
// takes the place of the one before it.
func TestMemoryOfAll(t *testing.T) {
	e := &Engine{Memory: 64 << 20}
	compile := func(name string, memory uint64) (*Policy, error) {
		src := source(guest{}.bytes())
		src.Info.Name, src.Limits = name, policy.Limits{Memory: memory}
		return e.compile(t.Context(), src)
	}
	must := func(name string, memory uint64) *Policy {
		t.Helper()
		p, err := compile(name, memory)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return p
	}
	refused := func(name string, memory uint64) {
		t.Helper()
		if _, err := compile(name, memory); err == nil || !strings.Contains(err.Error(), "--wasm-memory") {
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

// TestRoomLater: a policy that does not fit beside the others comes into force, as it is, when
// another one has left. Until then it is not compiled again. One that would not fit alone is
// not tried again.
func TestRoomLater(t *testing.T) {
	e, compiled := outside(0), 0
	elsewhere := e.Elsewhere
	e.Elsewhere = func(ctx context.Context, info *policy.Info, order, module []byte, take func(io.Reader) error) error {
		compiled++
		return elsewhere(ctx, info, order, module, take)
	}
	e.Memory = 34 << 20 // of one policy with its code
	loader := enginetest.Loader(Name, e)
	apply := func(name, settings string, module guest) (bool, error) {
		module.memory = []byte("\x01\x02\x80\x02") // pages: 2 to 256
		cm := enginetest.Contents{Settings: "hooks: [rank]\n" + settings, Binary: map[string][]byte{"module.wasm": module.bytes()}}.ConfigMap(name)
		return loader.Apply(t.Context(), cm)
	}
	if _, err := apply("first", "", guest{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := apply("second", "", seven()); !load.Transient(err) || !strings.Contains(err.Error(), "the other WebAssembly policies leave") {
			t.Fatalf("beside the first: %v", err)
		}
	}
	if compiled != 2 {
		t.Errorf("%d modules were compiled for two policies", compiled)
	}
	if _, err := loader.Delete(t.Context(), load.Key{Namespace: enginetest.Namespace, Name: "first"}); err != nil {
		t.Fatal(err)
	}
	if changed, err := apply("second", "", seven()); err != nil || !changed {
		t.Fatalf("after the first has left: %v, in force %v", err, changed)
	}
	e.Memory = 16 << 20
	if _, err := apply("third", "", guest{}); err == nil || load.Transient(err) || !strings.Contains(err.Error(), "it would not fit alone") {
		t.Errorf("larger than all may be: %v", err)
	}
}
