package isolate_test

import (
	"context"
	"fmt"
	"testing"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/enginetest"
	"spokeshave.dev/controller/policy/rego"
)

// TestHostile holds isolated policies to what every engine promises: a policy that ends
// its process is under its failure policy, another one is heard, the status shows it.
func TestHostile(t *testing.T) {
	contents := func(settings, text string) enginetest.Contents {
		return enginetest.Contents{
			Settings: "hooks: [consolidate]\n" + settings,
			Data:     map[string]string{"p.rego": "package spokeshave.consolidate\n" + text},
		}
	}
	suite := enginetest.Hostile{
		Engine: rego.Name, New: func() policy.Engine { e, _ := isolated(); return e }, Kept: 1 << 20,
		Bad: contents("limits: {deadline: 60ms}\n", `deny contains "x" if { input.candidate.pods == 0; `+
			`s := concat("", ["abcdefghijklmnop" | some i in numbers.range(1, 20000000 + input.candidate.pods)]); contains(s, input.candidate.node) }`),
		Good: contents("priority: 1\n", good),
		Ask: func(ctx context.Context, panel *policy.Panel, failure policy.FailurePolicy) error {
			in := &policy.ConsolidateInput{Call: moment, Candidates: []policy.Candidate{{Node: "n"}}}
			out := panel.Consolidate(ctx, in, func(*policy.Match, int) bool { return true })
			want := policy.Hold
			if failure == policy.Fail {
				want = policy.Deny
			}
			if out[0].Verdict != want {
				return fmt.Errorf("got %+v, want %s", out[0], want)
			}
			if other := panel.Uses()[1]; other.Denied != 1 {
				return fmt.Errorf("the other policy was not heard: %+v", other)
			}
			return nil
		},
	}
	suite.Run(t)
}
