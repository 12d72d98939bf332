package decide

import (
	"strings"
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// TestSpendInDoubt: while it is not certain what the month has cost, hard monthly caps
// let nothing through, and the pods are told why and what to do. Other caps hold as
// before.
func TestSpendInDoubt(t *testing.T) {
	caps := func(scope string, c policy.Cap) policy.Policy {
		return &scripted{
			info: policy.Info{Name: "budget", Hooks: []policy.Hook{policy.HookCeiling}},
			ceiling: func(*policy.CeilingInput) policy.CeilingAnswer {
				return policy.CeilingAnswer{Caps: map[string]policy.Cap{scope: c}}
			},
		}
	}
	const month, hour = 1_000_000.0, 1_000.0
	for name, tc := range map[string]struct {
		reason  string
		policy  policy.Policy
		waiting int
		code    model.ReasonCode
	}{
		"cluster":    {"the pools of the scope are blocked", caps("cluster", policy.Cap{MonthlyUSD: new(month)}), 8, model.PolicyUnavailable},
		"pool":       {"so are those of a NodePool", caps("nodepool/general", policy.Cap{MonthlyUSD: new(month)}), 8, model.PolicyUnavailable},
		"namespace":  {"a namespace has nothing left", caps("namespace/shop", policy.Cap{MonthlyUSD: new(month)}), 8, model.CeilingReached},
		"other pool": {"other pools launch", caps("nodepool/other", policy.Cap{MonthlyUSD: new(month)}), 0, ""},
		"soft":       {"a soft cap only warns", caps("cluster", policy.Cap{MonthlyUSD: new(month), Soft: true}), 0, ""},
		"hour":       {"a cap per hour does not depend on the month", caps("cluster", policy.Cap{HourlyUSD: new(hour)}), 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(8)
			if d := decideOn(t, s, Options{}, tc.policy); len(d.Plan.Unplaced) != 0 {
				t.Fatalf("%d pods wait without a doubt", len(d.Plan.Unplaced))
			}
			s = snapshot(8)
			s.SpentDoubt = "the ledger is lost; accept it"
			d := decideOn(t, s, Options{}, tc.policy)
			if len(d.Plan.Unplaced) != tc.waiting {
				t.Fatalf("%s: %d pods wait, want %d", tc.reason, len(d.Plan.Unplaced), tc.waiting)
			}
			for i := range d.Plan.Unplaced {
				r := &d.Plan.Unplaced[i].Reasons[0]
				if r.Code != tc.code || r.Policy != "budget" || !strings.Contains(r.Message, s.SpentDoubt) {
					t.Errorf("%s: %+v", tc.reason, r)
				}
			}
		})
	}
}
