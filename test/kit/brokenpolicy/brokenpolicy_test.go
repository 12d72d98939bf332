package brokenpolicy_test

import (
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/test/kit/brokenpolicy"
)

// TestRows: no revision loads, and the author is told what the row says. The good one
// loads.
func TestRows(t *testing.T) {
	for _, hook := range []policy.Hook{policy.HookRank, policy.HookConsolidate, policy.HookCeiling} {
		for _, failure := range []policy.FailurePolicy{"", policy.Fail, policy.Ignore} {
			k := brokenpolicy.Kind{Hook: hook, Failure: failure}
			if err := apply(t, k.Good()); err != nil {
				t.Errorf("%v: the good one: %v", k, err)
			}
			for row, revisions := range k.Rows() {
				for _, r := range revisions {
					if err := apply(t, r.Contents); err == nil || !strings.Contains(err.Error(), r.Says) {
						t.Errorf("%v, %s, %s: got  %v\nwant %s", k, row, r.Name, err, r.Says)
					}
				}
			}
		}
	}
}

func apply(t *testing.T, c brokenpolicy.Contents) error {
	t.Helper()
	l := load.New(load.Config{Namespace: "spokeshave", Engines: engine.All(), Now: time.Now})
	_, err := l.Apply(t.Context(), c.ConfigMap("spokeshave", "p"))
	return err
}
