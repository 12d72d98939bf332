package policies

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"spokeshave.dev/controller/policy/enginetest"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/policy/rego"
)

// TestRevisions: each change of a policy's contents counts once, by what became of it.
func TestRevisions(t *testing.T) {
	revisions, err := NewRevisions(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	loader := enginetest.Loader(rego.Name, &rego.Engine{})
	const settings, good, other = "hooks: [rank]\n", "package spokeshave.rank\nmultiplier[\"a\"] := 2\n", "package spokeshave.rank\nmultiplier[\"b\"] := 3\n"
	type counts struct{ Active, Rejected float64 }
	for _, step := range []struct {
		reason, settings, text string
		gone                   bool
		want                   counts
	}{
		{"the first revision", settings, good, false, counts{1, 0}},
		{"it is read again", settings, good, false, counts{1, 0}},
		{"another one", settings, other, false, counts{2, 0}},
		{"one that does not compile", settings, "package spokeshave.rank\nmultiplier", false, counts{2, 1}},
		{"it is read again", settings, "package spokeshave.rank\nmultiplier", false, counts{2, 1}},
		{"one whose settings cannot be read, which is parsed at each attempt", "hooks: 1\n", other, false, counts{2, 2}},
		{"it is read again", "hooks: 1\n", other, false, counts{2, 2}},
		{"back to what is still in force", settings, other, false, counts{3, 2}},
		{"in the shadow", settings + "mode: Shadow\n", other, false, counts{4, 2}},
		{"deleted", settings, good, true, counts{4, 2}},
		{"made again", settings + "mode: Shadow\n", other, false, counts{5, 2}},
	} {
		cm := enginetest.Contents{Settings: step.settings, Data: map[string]string{"p.rego": step.text}}.ConfigMap("p")
		if step.gone {
			key := load.Key{Namespace: cm.Namespace, Name: cm.Name}
			if _, err := loader.Delete(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			revisions.forget(key)
		} else {
			_, _ = loader.Apply(t.Context(), cm) // what became of it is counted
			revisions.count(loader, cm)
		}
		got := counts{testutil.ToFloat64(revisions.total.WithLabelValues(outcomeActive)), testutil.ToFloat64(revisions.total.WithLabelValues(outcomeRejected))}
		if d := cmp.Diff(step.want, got); d != "" {
			t.Errorf("%s: %s", step.reason, d)
		}
	}
}
