package load

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/policy"
)

// slow is an engine that runs out of time at first.
type slow struct{ left *int }

func (s slow) Compile(_ context.Context, src *policy.Source) (policy.Compiled, error) {
	if *s.left--; *s.left >= 0 {
		return nil, fmt.Errorf("start: %w", &policy.Fault{Kind: policy.FaultDeadline, Message: "took too long by the wall clock"})
	}
	return &compiled{info: src.Info, closed: &[]string{}}, nil
}

// TestOutOfTime: a revision that was rejected for want of time is judged again,
// one with a mistake is not.
func TestOutOfTime(t *testing.T) {
	left := 2
	l := New(Config{Namespace: "spokeshave", Engines: map[string]policy.Engine{"rego": slow{&left}}, Now: time.Now})
	cm := configMap("spokeshave", "p", "hooks: [rank]\n", map[string]string{"a.rego": "package spokeshave.rank"})
	for range 2 {
		if _, err := l.Apply(t.Context(), cm); !Transient(err) {
			t.Fatalf("%v: want an error that may pass", err)
		}
	}
	if changed, err := l.Apply(t.Context(), cm); !changed || err != nil {
		t.Fatalf("with time enough: changed %v, %v", changed, err)
	}
	if Transient(errors.New("a.rego:1:1: broken")) {
		t.Error("a mistake does not pass")
	}
}

// TestCaseOfKeys: a key in the wrong case is unknown, at every depth.
func TestCaseOfKeys(t *testing.T) {
	for _, manifest := range []string{
		"hooks: [rank]\nfailurepolicy: Fail\n", "Hooks: [rank]\n", "hooks: [rank]\nmatch: {nodepools: [a]}\n", "hooks: [rank]\nlimits: {Fuel: 1M}\n",
		"hooks: [rank]\nhooks: [ceiling]\n", "hooks: [rank]\npriority: 1\nprioritY: 2\n",
	} {
		cm := configMap("spokeshave", "p", manifest, map[string]string{"a.rego": "package spokeshave.rank"})
		if _, err := ParseConfigMap(cm); err == nil || !strings.Contains(err.Error(), "policy.yaml:") {
			t.Errorf("%q: %v", manifest, err)
		}
	}
	cm := configMap("spokeshave", "p", "hooks: [rank]\nlimits: {fuel: 1M, deadline: 50ms}\nmatch: {selector: {matchLabels: {A: b}}}\nconfig: {X: 1, x: 2}\n",
		map[string]string{"a.rego": "package spokeshave.rank"})
	if src, err := ParseConfigMap(cm); err != nil || src.Limits.Fuel != 1_000_000 {
		t.Errorf("%+v, %v", src, err)
	}
}

// TestSinceTripped: the status says since when a policy is off, and since when
// it is back.
func TestSinceTripped(t *testing.T) {
	now := time.Date(2026, 3, 11, 0, 0, 0, 0, time.UTC)
	engine := &keeping{}
	l := New(Config{Namespace: "spokeshave", Engines: map[string]policy.Engine{"rego": engine}, Now: func() time.Time { return now }})
	if _, err := l.Apply(t.Context(), configMap("spokeshave", "p", "hooks: [rank]\n", map[string]string{"a.rego": "x"})); err != nil {
		t.Fatal(err)
	}
	start := now
	for step, want := range []struct {
		open  bool
		state policy.State
		since time.Duration
	}{{false, policy.StateActive, 0}, {true, policy.StateTripped, 2 * time.Hour}, {true, policy.StateTripped, 2 * time.Hour}, {false, policy.StateActive, 4 * time.Hour}, {false, policy.StateActive, 4 * time.Hour}} {
		now = start.Add(time.Duration(step+1) * time.Hour)
		engine.last.stats = policy.Stats{Tripped: want.open, LastFault: "Trap: x"}
		got := l.Status()[0]
		if got.State != want.state || !got.Since.Equal(start.Add(want.since)) {
			t.Errorf("step %d: %s since %s, want %s since %s", step, got.State, got.Since, want.state, start.Add(want.since))
		}
	}
}

// keeping remembers what it has compiled.
type keeping struct{ last *compiled }

func (k *keeping) Compile(_ context.Context, src *policy.Source) (policy.Compiled, error) {
	k.last = &compiled{info: src.Info, closed: &[]string{}}
	return k.last, nil
}
