package isolate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/isolate"
	"spokeshave.dev/controller/policy/rego"
)

// The limits of FuzzCompile. A fuzzer ends an input after ten seconds: compileLimit, killLimit
// and the question to the other policy fit in them.
const (
	fuzzStage    = 400 * time.Millisecond
	fuzzCPU      = time.Second
	fuzzAsk      = 50 * time.Millisecond
	compileLimit = 5 * time.Second
	killLimit    = 2 * time.Second
)

// FuzzCompile: whatever the text of a policy and of its tests, Compile returns a policy or an
// error, in time, this process does not grow, and another policy is answered right afterwards.
// Texts are the input itself, and rules that a generator makes of it.
func FuzzCompile(f *testing.F) {
	for _, text := range []string{
		good, "deny contains", "x := " + strings.Repeat("[", 3000), "package spokeshave.consolidate\n\n" + good + "\ntest_x if 1 == 2",
		"# METADATA\n# scope: rule\n# schemas: [{input: schema.x}]\n" + good, "import data.config as c\ndeny contains c.x if input.candidate.pods > c.y",
	} {
		f.Add([]byte(text), false)
	}
	for kind := byte(0); kind < generatedKinds; kind += 4 {
		f.Add([]byte{kind / 4, kind, kind, 30, 17, kind + 5, 99, 3, kind, 250, 7, 11}, true)
	}
	cfg := isolate.Hurried(fuzzStage, fuzzCPU)
	e := engine.With(engine.Config{Isolate: cfg})[rego.Name]
	other, err := e.Compile(f.Context(), source("good", policy.HookConsolidate, map[string]string{"p.rego": good}))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { other.Close(context.WithoutCancel(f.Context())) }) //nolint:errcheck // the end of a test
	files := 0
	f.Fuzz(func(t *testing.T, b []byte, generated bool) {
		src := source("fuzzed", policy.HookConsolidate, texts(b, generated))
		src.Limits.Deadline = fuzzAsk
		before := resident(t)
		compileInTime(t, e, src)
		askGood(t, other)
		if after := resident(t); after > before+grown {
			t.Errorf("the controller grew from %d to %d MiB", before>>20, after>>20)
		}
		if files = max(files, 200); opened(t) > files {
			t.Errorf("%d files are open", opened(t))
		}
	})
}

// texts returns the files of a policy.
func texts(b []byte, generated bool) map[string]string { //nolint:revive // an input of the fuzzer, not a mode
	if generated {
		return generate(b)
	}
	rules, tests, _ := strings.Cut(string(b), "\x00")
	files := map[string]string{"p.rego": rules}
	if tests != "" {
		files["p_test.rego"] = tests
	}
	return files
}

// compileInTime compiles a policy and asks it once.
func compileInTime(t *testing.T, e policy.Engine, src *policy.Source) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), compileLimit)
	defer cancel()
	begun := time.Now()
	p, err := e.Compile(ctx, src)
	if took := time.Since(begun); took > compileLimit+killLimit {
		t.Errorf("it took %v", took)
	}
	if err != nil {
		if text := err.Error(); p != nil || text == "" || len(text) > 1<<20 {
			t.Errorf("an error of %d bytes, and a policy %v", len(text), p)
		}
		return
	}
	defer func() {
		if err := p.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	begun = time.Now()
	_, err = ask(t, p, 3)
	if took := time.Since(begun); took > killLimit {
		t.Errorf("the question took %v", took)
	}
	var fault *policy.Fault
	if err != nil && !errors.As(err, &fault) && !errors.Is(err, policy.ErrNoOpinion) {
		t.Errorf("an error that is no fault: %v", err)
	}
}

// opened returns how many files this process has open.
func opened(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("needs /proc/self/fd")
	}
	return len(all)
}

// TestGenerated: the generator makes policies that compile, so that the fuzzer tries more
// than the parser.
func TestGenerated(t *testing.T) {
	here := engine.All()[rego.Name]
	good := 0
	for kind := range byte(generatedKinds) {
		files := generate([]byte{0, kind, 2, 1, 0, 0})
		_, err := here.Compile(t.Context(), source("p", policy.HookConsolidate, files))
		if err == nil {
			good++
		} else {
			t.Logf("kind %d: %v\n%s", kind, err, fmt.Sprint(files))
		}
	}
	if good < generatedKinds*3/4 {
		t.Errorf("of %d kinds of rules only %d compile", generatedKinds, good)
	}
}
