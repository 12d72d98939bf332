package isolate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/isolate"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/policy/rego"
)

// TestTriedOnce: a policy that has passed its trial and does not fit beside the others comes again every
// minute. It gets no other trial for that, and is loaded when there is room.
func TestTriedOnce(t *testing.T) {
	e := isolate.New(isolate.Config{Engine: rego.Name, Memory: 64 << 20})
	src := func(name, more string) *policy.Source {
		return source(name, policy.HookConsolidate, map[string]string{
			"p.rego": good + "\n" + more + `deny contains "many" if count([1 | input.candidate.pods > 1000]) > 0`, "data.json": numbers(100_000),
		})
	}
	var all []policy.Compiled
	last := ""
	for {
		last = fmt.Sprintf("p%d", len(all))
		p, err := e.Compile(t.Context(), src(last, ""))
		if err != nil {
			notFit(t, "the first attempt", err)
			break
		}
		t.Cleanup(func() { p.Close(t.Context()) }) //nolint:errcheck // it may be closed already
		all = append(all, p)
	}

	defer e.Occupy()() // no trial begins from here on
	withdrawn, cancel := context.WithCancel(t.Context())
	cancel() // so that nobody waits for a trial
	for range 3 {
		_, err := e.Compile(withdrawn, src(last, ""))
		notFit(t, "no trial is needed to say so again", err)
	}
	for reason, other := range map[string]*policy.Source{
		"other contents have a trial of their own": src(last, "# changed\n"),
		"so has another policy":                    src("other", ""),
	} {
		if _, err := e.Compile(withdrawn, other); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	for _, p := range all {
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}

	e.Quicken() // what is slow to load has to wait like a trial
	p, err := e.Compile(t.Context(), src(last, ""))
	if err != nil {
		t.Fatalf("there is room: %v", err)
	}
	defer p.Close(t.Context()) //nolint:errcheck // the end of a test
	askGood(t, p)
	if notes := p.Stats().Notes; len(notes) != 1 || isolate.Holds(p) < 1<<20 {
		t.Errorf("it holds %d bytes, notes %q", isolate.Holds(p), notes)
	}
	if _, err := e.Compile(withdrawn, src(last, "")); !errors.Is(err, context.Canceled) {
		t.Errorf("once it is loaded the verdict is forgotten: %v", err)
	}
}

func notFit(t *testing.T, when string, err error) {
	t.Helper()
	if !load.Transient(err) || !strings.Contains(said(err), "all policies together may take 32 MiB") {
		t.Fatalf("%s: %v", when, err)
	}
}
