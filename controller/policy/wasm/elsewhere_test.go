package wasm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/isolate"
	"spokeshave.dev/sdk/abi"
)

// status returns a line of /proc/self/status in bytes.
func status(t *testing.T, key string) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("needs /proc/self/status")
	}
	for line := range strings.Lines(string(text)) {
		var n int
		if _, err := fmt.Sscanf(line, key+": %d kB", &n); err == nil {
			return n << 10
		}
	}
	t.Fatalf("no %s", key)
	return 0
}

// peak returns by how many bytes this process grows at most while f runs.
func peak(t *testing.T, f func()) int {
	t.Helper()
	runtime.GC()
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Skip("cannot reset the highest size of this process")
	}
	before := status(t, "VmRSS")
	f()
	return status(t, "VmHWM") - before
}

// TestCompilingElsewhere: this process grows little by a module that is heavy to compile,
// whatever its shape, beside the code that is booked for the policy.
func TestCompilingElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the heaviest modules, which is slow under the race detector")
	}
	const most = 20 << 20
	e := outside(0)
	for name, reason := range map[string]string{
		"fills":          "55 MB to compile",
		"locals":         "84 MB to compile, the most of one function",
		"indirect calls": "58 MB to compile",
		"functions":      "36 MB to meter",
		"many calls":     "the most compiled code",
		"many":           "the most code to validate",
	} {
		t.Run(name, func(t *testing.T) {
			module, _ := largestOf(heaviest[name])
			var p *Policy
			var err error
			grown := peak(t, func() { p, err = e.compile(t.Context(), source(module)) })
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close(t.Context()) //nolint:errcheck // the end of a test
			t.Logf("%d MB, of which %d MB are code", grown>>20, p.native>>20)
			if p.native == 0 || grown > most+int(p.native) {
				t.Errorf("%s: this process grew by %d MB, of which %d are code, and may by %d beside it", reason, grown>>20, p.native>>20, most>>20)
			}
			if _, err := p.Rank(t.Context(), input(1)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTooHeavyToCompile: a module that needs more than the process may have is refused with
// what to do, this process does not grow, and the next module is compiled.
func TestTooHeavyToCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory, which the race detector takes for itself")
	}
	e := outside(32 << 20)
	module, _ := largestOf(heaviest["locals"])
	var err error
	grown := peak(t, func() { _, err = e.compile(t.Context(), source(module)) })
	if err == nil || !strings.Contains(err.Error(), "needed more memory") || !strings.Contains(err.Error(), "build it for size") {
		t.Errorf("%v, want what it needed too much of, and what to do", err)
	}
	if f := (*policy.Fault)(nil); errors.As(err, &f) && f.Kind == policy.FaultDeadline {
		t.Errorf("%v: counts as passing", err)
	}
	if grown > 4<<20 {
		t.Errorf("this process grew by %d MB", grown>>20)
	}
	p, err := e.compile(t.Context(), source(guest{}.bytes()))
	if err != nil {
		t.Fatalf("the next module: %v", err)
	}
	defer p.Close(t.Context()) //nolint:errcheck // the end of a test
	if _, err := p.Rank(t.Context(), input(1)); err != nil {
		t.Error(err)
	}
}

// TestKilledByAnother: a process that ends for the machine's sake says nothing about the
// policy.
func TestKilledByAnother(t *testing.T) {
	host := isolate.New(isolate.Config{})
	e := &Engine{Elsewhere: func(ctx context.Context, info *policy.Info, order, module []byte, take func(io.Reader) error) error {
		job := &isolate.Job{Policy: info, Order: order, Body: module, Limit: time.Minute}
		return host.Do(ctx, job, func(r io.Reader) error {
			if _, err := readMetered(r); err != nil {
				return err
			}
			killChildren(t)
			_, err := io.Copy(io.Discard, r)
			return err
		})
	}}
	module, _ := largestOf(heaviest["many"])
	_, err := e.compile(t.Context(), source(module))
	if f := (*policy.Fault)(nil); !errors.As(err, &f) || f.Kind != policy.FaultDeadline || !strings.Contains(err.Error(), "killed by another") {
		t.Errorf("%v, want that another attempt may succeed", err)
	}
}

// killChildren ends the processes that this one has started.
func killChildren(t *testing.T) {
	t.Helper()
	threads, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(threads) == 0 {
		t.Skip("needs /proc/self/task/*/children")
	}
	for _, file := range threads {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for child := range strings.FieldsSeq(string(text)) {
			pid, err := strconv.Atoi(child)
			if err != nil {
				t.Fatal(err)
			}
			if p, err := os.FindProcess(pid); err == nil {
				p.Kill() //nolint:errcheck // it may have ended
			}
		}
	}
}

// TestSameRefusals: what is wrong with a module is said in the same words wherever it is
// compiled.
func TestSameRefusals(t *testing.T) {
	away := outside(0)
	for name, module := range map[string][]byte{
		"no module":      []byte("text"),
		"no memory":      guest{without: abi.ExportMemory}.bytes(),
		"a wrong type":   guest{rank: f64(1)}.bytes(),
		"too heavy":      repeat(100_000, "\x02\x40\x0b").bytes(),
		"a failed start": guest{start: []byte(unreachable)}.bytes(),
	} {
		t.Run(name, func(t *testing.T) {
			_, here := (&Engine{}).Compile(t.Context(), source(module))
			_, there := away.Compile(t.Context(), source(module))
			if here == nil || there == nil || here.Error() != there.Error() {
				t.Errorf("here %v, elsewhere %v", here, there)
			}
		})
	}
}
