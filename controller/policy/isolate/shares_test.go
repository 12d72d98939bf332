package isolate_test

import (
	"strings"
	"testing"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/isolate"
	"spokeshave.dev/controller/policy/rego"
)

// TestShares: policies together hold a part of the process's memory at most, so that the rest
// is there for the one that is asked. Those of plugin namespaces cannot take the administrator's.
func TestShares(t *testing.T) {
	e := isolate.New(isolate.Config{Engine: rego.Name, Memory: 128 << 20})
	large := "{\"numbers\": [" + strings.Repeat("1,", 90_000) + "1]}"
	held := map[string]policy.Compiled{}
	for _, step := range []struct {
		reason, namespace, name string
		remove                  bool
		refused                 string
	}{
		{reason: "the first of a team", namespace: "team-a", name: "one"},
		{reason: "the second", namespace: "team-a", name: "two"},
		{reason: "7 MiB each: more than an eighth together", namespace: "team-a", name: "three", refused: "the policies of namespace team-a together may take 16 MiB"},
		{reason: "a version that takes the place of another", namespace: "team-a", name: "two"},
		{reason: "another team", namespace: "team-b", name: "one"},
		{reason: "its second", namespace: "team-b", name: "two"},
		{reason: "all teams have a quarter", namespace: "team-c", name: "one", refused: "the policies of all plugin namespaces together may take 32 MiB"},
		{reason: "the administrator's are not in their way", namespace: "spokeshave", name: "one"},
		{reason: "one goes", namespace: "team-a", name: "one", remove: true},
		{reason: "there is room", namespace: "team-a", name: "three"},
	} {
		key := step.namespace + "/" + step.name
		if step.remove {
			if err := held[key].Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			delete(held, key)
			continue
		}
		src := source(step.name, policy.HookConsolidate, map[string]string{"p.rego": good, "data.json": large})
		src.Info.Namespace = step.namespace
		if strings.HasPrefix(step.namespace, "team") {
			src.Info.Match = policy.Match{Scope: &policy.Scope{}, Namespace: step.namespace}
		}
		got, err := e.Compile(t.Context(), src)
		if said(err) != "" != (step.refused != "") || !strings.Contains(said(err), step.refused) {
			t.Fatalf("%s (%s): %v, want %q", key, step.reason, err, step.refused)
		}
		if err != nil {
			continue
		}
		if before := held[key]; before != nil {
			if err := before.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		held[key] = got
		t.Cleanup(func() { got.Close(t.Context()) }) //nolint:errcheck // it may be closed already
	}
	for _, p := range held {
		askGood(t, p)
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
