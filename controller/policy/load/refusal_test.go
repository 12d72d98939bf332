package load

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/policy"
)

// TestRefusal: a policy without a good version faults, by its failure policy,
// until a revision loads.
func TestRefusal(t *testing.T) {
	l, _ := newTest("budget")
	broken := configMap("spokeshave", "budget", "hooks: [ceiling]\nunknown: true", map[string]string{"p.rego": "one"})
	if _, err := l.Apply(t.Context(), broken); err == nil {
		t.Fatal("loaded")
	}
	got := l.Policies()
	if len(got) != 1 {
		t.Fatalf("policies %v", got)
	}
	info := got[0].Info()
	if diff := cmp.Diff([]policy.Hook{policy.HookCeiling}, info.Hooks); diff != "" {
		t.Error(diff)
	}
	var f *policy.Fault
	if _, err := got[0].Ceiling(t.Context(), &policy.CeilingInput{}); !errors.As(err, &f) || !strings.Contains(f.Message, "unknown") {
		t.Errorf("asked: %v", err)
	}
	outcome := policy.NewPanel(got, nil).Ceiling(t.Context(), &policy.CeilingInput{}, nil)
	if outcome.Refused == nil || outcome.Refused.Policy != "budget" {
		t.Errorf("a budget that does not load lets launches through: %+v", outcome)
	}
	if diff := cmp.Diff([]string{"budget"}, l.Missing()); diff != "" {
		t.Error(diff)
	}

	good := configMap("spokeshave", "budget", "hooks: [ceiling]", map[string]string{"p.rego": "one"})
	if _, err := l.Apply(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	if _, refused := l.Policies()[0].(refusal); refused || len(l.Policies()) != 1 || len(l.Missing()) != 0 {
		t.Errorf("still refused: %v, missing %v", l.Policies(), l.Missing())
	}
	if _, err := l.Apply(t.Context(), broken); err == nil {
		t.Fatal("loaded")
	}
	if _, refused := l.Policies()[0].(refusal); refused {
		t.Error("a broken revision replaced the good one")
	}
}

func TestRefusalConcernsOnlyWhatItMay(t *testing.T) {
	l, _ := newTest()
	code := map[string]string{"p.rego": "one"}
	for _, cm := range []struct{ namespace, name, manifest string }{
		{"team", "plugin", "hooks: [ceiling]\nx: 1"},
		{"spokeshave", "noise", "hooks: {"},
		{"spokeshave", "other", "hooks: [dance]"},
	} {
		if _, err := l.Apply(t.Context(), configMap(cm.namespace, cm.name, cm.manifest, code)); err == nil {
			t.Errorf("%s loaded", cm.name)
		}
	}
	if got := l.Policies(); len(got) != 0 {
		t.Errorf("policies %+v", got)
	}
}

// TestBackToTheGoodOne: going back from an unreadable revision clears the
// status, although there is nothing to compile.
func TestBackToTheGoodOne(t *testing.T) {
	l, _ := newTest()
	good := configMap("spokeshave", "p", "hooks: [rank]", map[string]string{"p.rego": "one"})
	unreadable := configMap("spokeshave", "p", "hooks: [rank]\nx: 1", map[string]string{"p.rego": "one"})
	for range 2 {
		if _, err := l.Apply(t.Context(), good); err != nil {
			t.Fatal(err)
		}
		if s := l.Status()[0]; s.State != policy.StateActive || s.Reason != "" {
			t.Errorf("status %+v", s)
		}
		if _, err := l.Apply(t.Context(), unreadable); err == nil {
			t.Fatal("loaded")
		}
		if s := l.Status()[0]; s.State != policy.StateRejected {
			t.Errorf("status %+v", s)
		}
	}
}
