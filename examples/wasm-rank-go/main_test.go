package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/sdk/policy/policytest"
)

func TestAvoid(t *testing.T) {
	policytest.Configure(t, `{"avoid": ["m7i", "c7i"], "factor": 3}`)
	got := policytest.Rank(t, policytest.Pool{Name: "default"}, []policytest.Offering{
		{InstanceType: "m7i.large", Family: "m7i", Price: 0.10},
		{InstanceType: "m7i.xlarge", Family: "m7i", Price: 0.20, Cost: 0.15},
		{InstanceType: "m7g.large", Family: "m7g", Price: 0.08},
	})
	const why = "family to avoid: cost counted 3 times"
	want := []policytest.Verdict{
		{Score: 3 * 0.10, Reason: why},
		{Score: 3 * 0.15, Reason: why}, // the cost so far, not the price
		{Score: 0.08},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 })); diff != "" {
		t.Error(diff)
	}
}
