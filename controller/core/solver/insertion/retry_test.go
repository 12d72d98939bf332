package insertion

import (
	"testing"

	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/problem"
)

// TestRetries: a class that found no place is worth another try after a pod was placed that one of
// its groups counts, or that counts for one of its rules, and after no other.
func TestRetries(t *testing.T) {
	const zone, host, other = 0, 1, 2
	waits := &constraint.Terms{
		DomainRules: []constraint.Rule{{Kind: constraint.Affinity, Group: zone}},
		HostGroups:  []int32{host},
	}
	for name, tc := range map[string]struct {
		reason string
		placed *constraint.Terms
		want   bool
	}{
		"in the rule's group":   {"the affinity may hold now", &constraint.Terms{DomainGroups: []int32{zone}}, true},
		"in a group of its own": {"the group that counts both has another pod", &constraint.Terms{HostGroups: []int32{host}}, true},
		"in another group":      {"nothing that it looks at has changed", &constraint.Terms{DomainGroups: []int32{other}, HostGroups: []int32{other}}, false},
		"in no group":           {"a pod without constraints only takes room", nil, false},
		"with the same rule":    {"a pod that has the rule and is not counted only takes room", &constraint.Terms{DomainRules: waits.DomainRules}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRetries(&problem.Problem{Topology: &constraint.Groups{All: make([]constraint.Group, 3)}})
			before := r.sum(waits)
			r.placed(tc.placed)
			if got := r.sum(waits) != before; got != tc.want {
				t.Errorf("%s: worth another try %t, want %t", tc.reason, got, tc.want)
			}
			if r.sum(nil) != 1 {
				t.Error("a class without constraints between pods has nothing to wait for")
			}
		})
	}
}
