package load

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
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

// TestOutline: a policy that cannot be read affects what it may be. In the controller's
// namespace that includes a ceiling, elsewhere it never does.
func TestOutline(t *testing.T) {
	every := []policy.Hook{policy.HookRank, policy.HookConsolidate, policy.HookCeiling}
	ceiling := []policy.Hook{policy.HookCeiling}
	for name, tc := range map[string]struct {
		reason, namespace, manifest string
		want                        []policy.Hook
		failure                     policy.FailurePolicy
		mode                        policy.Mode
	}{
		"a word for a list": {"the hook is named", "spokeshave", "hooks: ceiling", ceiling, "", policy.Enforce},
		"unknown hook":      {"it may be a misspelt ceiling", "spokeshave", "hooks: [celing]", every, "", policy.Enforce},
		"one unknown hook":  {"the other may be a ceiling", "spokeshave", "hooks: [rank, dance]", every, "", policy.Enforce},
		"no hooks":          {"it may be a ceiling", "spokeshave", "mode: Enforce", every, "", policy.Enforce},
		"empty hooks":       {"it may be a ceiling", "spokeshave", "hooks: []", every, "", policy.Enforce},
		"wrong case":        {"the key is another one", "spokeshave", "Hooks: [rank]", every, "", policy.Enforce},
		"no YAML":           {"nothing is known", "spokeshave", "hooks: {", every, "", policy.Enforce},
		"no mapping":        {"nothing is known", "spokeshave", "- ceiling", every, "", policy.Enforce},
		"twice":             {"it is not known which one is meant", "spokeshave", "hooks: [rank]\nhooks: [ceiling]", every, "", policy.Enforce},
		"no manifest":       {"nothing is known", "spokeshave", "", every, "", policy.Enforce},
		"another field":     {"a mistake in one field hides no other", "spokeshave", "hooks: [ceiling]\npriority: high\nfailurePolicy: Ignore", ceiling, policy.Ignore, policy.Enforce},
		"failure of some":   {"the author chose what a failure does", "spokeshave", "hooks: 7\nfailurePolicy: Ignore", every, policy.Ignore, policy.Enforce},
		"misspelt Fail":     {"whoever wrote it wants failures to stop something", "spokeshave", "hooks: [rank]\nfailurePolicy: Fial", []policy.Hook{policy.HookRank}, policy.Fail, policy.Enforce},
		"Fail and more":     {"it may mean the opposite", "spokeshave", "hooks: [rank]\nfailurePolicy: FailOpen", []policy.Hook{policy.HookRank}, "", policy.Enforce},
		"bad failurePolicy": {"the default of the hook holds", "spokeshave", "hooks: [ceiling]\nfailurePolicy: ignore", ceiling, "", policy.Enforce},
		"shadow":            {"a Shadow policy has no effect, broken or not", "spokeshave", "hooks: ceiling\nmode: Shadow", ceiling, "", policy.Shadow},
		"plugin ceiling":    {"elsewhere there are no ceilings", "team", "hooks: ceiling", nil, "", policy.Enforce},
		"plugin consolidate": {
			"elsewhere what is named counts", "team", "hooks: consolidate\nx: 1", []policy.Hook{policy.HookConsolidate}, "", policy.Enforce,
		},
		"plugin unreadable": {"elsewhere what cannot be read affects nothing", "team", "hooks: [dance]", nil, "", policy.Enforce},
	} {
		l, _ := newTest()
		broken := configMap(tc.namespace, "p", tc.manifest, map[string]string{"p.rego": "broken"})
		if tc.manifest == "- ceiling" {
			broken.Data[manifestFile] = tc.manifest
		}
		if _, err := l.Apply(t.Context(), broken); err == nil {
			t.Errorf("%s: loaded", name)
			continue
		}
		var got policy.Info
		if all := l.Policies(); len(all) == 1 {
			got = all[0].Info()
		}
		want := policy.Info{Hooks: tc.want, Failure: tc.failure, Mode: tc.mode}
		if tc.want == nil {
			want = policy.Info{}
		}
		if diff := cmp.Diff(want, policy.Info{Hooks: got.Hooks, Failure: got.Failure, Mode: got.Mode}); diff != "" {
			t.Errorf("%s, as %s:\n%s", name, tc.reason, diff)
		}
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

// TestUnreadableMatch: a broken policy whose match cannot be used fails for all NodePools.
func TestUnreadableMatch(t *testing.T) {
	for name, tc := range map[string]struct{ reason, match string }{
		"pattern": {"a pattern that matches no name", "nodePools: ['[']"},
		"several": {"one of several", "nodePools: [a, '[']"},
		"word":    {"a word in place of a list", "nodePools: a"},
		"label":   {"a selector that does not exist", "selector: {matchExpressions: [{key: a, operator: Is}]}"},
	} {
		l, _ := newTest()
		if _, err := l.Apply(t.Context(), configMap("spokeshave", "p", "hooks: [rank]\nfailurePolicy: Fail\nmatch: {"+tc.match+"}", map[string]string{"p.rego": "one"})); err == nil {
			t.Errorf("%s: loaded", name)
			continue
		}
		info := l.Policies()[0].Info()
		if !info.Match.Pool(&model.Pool{Name: "general"}) {
			t.Errorf("%s: %s: its failure affects nothing", name, tc.reason)
		}
	}
}
