package isolate_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/isolate"
)

// grown is how many bytes the controller may grow by a bomb.
const grown = 20 << 20

// patience is added to the limits under test: other tests use this machine as well.
const patience = 30 * time.Second

// resident returns the resident memory of this process, in bytes.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("needs /proc/self/statm")
	}
	var size, pages int
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// TestBombsAtLoad: a policy that goes off when it is parsed, compiled, tested or tried
// is refused in time, with what it did and what to do. Nobody else notices.
func TestBombsAtLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	nested := strings.Repeat("[", 60_000) + strings.Repeat("]", 60_000)
	for name, files := range map[string]map[string]string{
		"parse":      {"p.rego": "x := " + nested + "\n" + good},
		"parse sets": {"p.rego": "x := " + strings.Repeat("{1 | ", 20_000) + "true" + strings.Repeat("}", 20_000) + "\n" + good},
		"parse not":  {"p.rego": "x if " + strings.Repeat("not ", 60_000) + "false\n" + good},
		"data":       {"p.rego": good, "data.json": `{"a": ` + nested + `}`},
		"compile":    {"p.rego": doubled("[1, 1]", 40) + `deny contains "x" if { json.marshal(a40) == input.candidate.node }` + "\n" + good},
		"test":       {"p.rego": good, "p_test.rego": "package spokeshave.consolidate\n" + doubled("[1, 1]", 40) + "test_a if { json.marshal(a40) == \"\" }\n"},
		"test list":  {"p.rego": good, "p_test.rego": "package spokeshave.consolidate\ntest_a if { s := concat(\"\", [\"abcdefgh\" | some i in numbers.range(1, 100000000)]); contains(s, \"i\") }\n"},
		"ahead":      {"p.rego": doubled("[1, 1]", 40) + `deny contains json.marshal(a40) if input.candidate.pods > 3` + "\n" + good},
	} {
		t.Run(name, func(t *testing.T) {
			e, c := isolated()
			other := compile(t, e, source("good", policy.HookConsolidate, map[string]string{"p.rego": good}))
			before := resident(t)
			begun := time.Now()
			p, err := e.Compile(t.Context(), source("bomb", policy.HookConsolidate, files))
			took := time.Since(begun)
			if after := resident(t); after > before+grown {
				t.Errorf("the controller grew from %d to %d MiB", before>>20, after>>20)
			}
			if err == nil {
				t.Errorf("it compiles")
				p.Close(t.Context()) //nolint:errcheck // the end of a test
			}
			t.Logf("%v: %.300s (killed %d, %s)", took.Round(time.Millisecond), err, c.refused["bomb"], c.lastKind)
			if took > 30*time.Second+patience {
				t.Errorf("it took %v", took)
			}
			askGood(t, other)
			if c.again > 0 {
				t.Error("the process that answers was ended")
			}
		})
	}
}

// TestLongEnumeration: a rule with a long enumeration that does not depend on the input is
// accepted, on however fast a machine, and ends by its deadline when it is asked.
func TestLongEnumeration(t *testing.T) {
	e, _ := isolated()
	p := compile(t, e, source("long", policy.HookConsolidate, map[string]string{
		"p.rego": `deny contains "x" if { some i in numbers.range(1, 4000 + input.candidate.pods); some j in numbers.range(1, 4000); some k in numbers.range(1, 4000); i * j * k == -7 }`,
	}))
	if _, err := ask(t, p, 1); err == nil {
		t.Error("64 billion products are computed within the deadline")
	}
}

// toEnd is how long it may take, beyond the deadline, until a process has ended and its memory is free: 30 ms
// on two cores at rest, and more while others use them.
const toEnd = 3 * time.Second

// ticking returns how long f takes by the clock of the engine's deadline: a time in which this process gets no
// processor counts as one tick.
func ticking(f func()) time.Duration {
	const tick = 20 * time.Millisecond
	done, ticks := make(chan struct{}), make(chan time.Duration, 1)
	go func() {
		for n := time.Duration(0); ; n += tick {
			select {
			case <-done:
				ticks <- n
				return
			case <-time.After(tick):
			}
		}
	}()
	f()
	close(done)
	return <-ticks
}

// TestBombsAtQuestions: a policy that goes off at a question is at fault at its
// deadline, is counted and goes on as soon as it can; the others are answered.
func TestBombsAtQuestions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const fuse = `input.candidate.pods == 0; `
	for name, text := range map[string]string{
		"json":          doubled("[input.candidate.node, 1]", 36) + `deny contains "x" if { ` + fuse + `count(json.marshal(a36)) == 3 }`,
		"concat":        `deny contains "x" if { ` + fuse + `s := concat("", ["abcdefghijklmnop" | some i in numbers.range(1, 20000000 + input.candidate.pods)]); contains(s, input.candidate.node) }`,
		"replace":       `deny contains "x" if { ` + fuse + `s := concat("", ["a" | some i in numbers.range(1, 20000)]); t := replace(s, "a", s); u := replace(t, "a", s); contains(u, input.candidate.node) }`,
		"products":      `deny contains "x" if { ` + fuse + `count([[a, b, c] | some a in numbers.range(1, 3000); some b in numbers.range(1, 3000); some c in numbers.range(1, 3000)]) == input.candidate.pods }`,
		"set":           `deny contains sprintf("%d%d", [i, j]) if { ` + fuse + `some i in numbers.range(1, 100000); some j in numbers.range(1, 100000); i > input.candidate.pods }`,
		"regex":         `deny contains "x" if { ` + fuse + `s := concat("", ["a" | some i in numbers.range(1, 200000)]); regex.match("((a{0,30}){0,30}){0,1}b$", concat(s, [input.candidate.node, s])) }`,
		"big number":    `deny contains "x" if { ` + fuse + `x := 99999999999999999999 + input.candidate.pods; product([x | some i in numbers.range(1, 1000000)]) == 7 }`,
		"shared equals": doubled("[input.candidate.node, 1]", 40) + strings.ReplaceAll(doubled("[input.candidate.node, 2]", 40), "a", "b") + `deny contains "x" if { ` + fuse + `a40 == b40 }`,
	} {
		t.Run(name, func(t *testing.T) {
			e, c := isolated()
			other := compile(t, e, source("good", policy.HookConsolidate, map[string]string{"p.rego": good}))
			src := source("bomb", policy.HookConsolidate, map[string]string{"p.rego": strings.ReplaceAll(text, "bll", "all")})
			p, err := e.Compile(t.Context(), src)
			if err != nil {
				t.Logf("refused: %.200s", err)
				askGood(t, other)
				return
			}
			defer p.Close(t.Context()) //nolint:errcheck // the end of a test
			if _, err := ask(t, p, 1); err != nil {
				t.Logf("without the fuse: %v", err)
			}
			before := resident(t)
			took := ticking(func() { _, err = ask(t, p, 0) })
			begun := time.Now()
			askGood(t, other)
			next := time.Since(begun)
			after := resident(t)
			t.Logf("%v: %v (killed %d); the other policy after %v; %+d KiB", took.Round(time.Millisecond), err, c.of("bomb"), next.Round(time.Millisecond), (after-before)>>10)
			var fault *policy.Fault
			if !errors.As(err, &fault) || fault.Kind != policy.FaultDeadline && fault.Kind != policy.FaultMemory {
				t.Errorf("want a deadline or a memory fault: %v", err)
			}
			if after > before+grown {
				t.Errorf("the controller grew from %d to %d MiB", before>>20, after>>20)
			}
			if most := isolate.Deadline + toEnd; took > most { // the next question fails by itself if it takes too long
				t.Errorf("the bomb took %v, at most %v are allowed", took, most)
			}
			if _, err := ask(t, p, 1); err != nil {
				t.Logf("the bomb without its fuse: %v", err)
			}
		})
	}
}
