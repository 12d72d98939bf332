package policies_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/rehearse/author"
)

// TestTwins: max-price answers alike in Rego and in WebAssembly, but for which
// of several reasons comes first.
func TestTwins(t *testing.T) {
	g := rand.New(rand.NewPCG(5, 9))
	in := policy.CeilingInput{}
	for range 500 {
		in.Launches = append(in.Launches, policy.Launch{
			NodePool: "general", InstanceType: "m7i.large", CapacityType: []string{"on-demand", "spot", "reserved"}[g.IntN(3)],
			Price: g.Float64() * 3, OnDemand: float64(g.IntN(4)), VCPU: float64(g.IntN(32)),
		})
	}
	config := []byte(`{"hourlyUSD": 2, "perVCPU": 0.2, "spotShare": 0.5}`)
	var denied [2]map[int]bool
	for k, name := range []string{"max-price", "max-price-wasm"} {
		sources, err := author.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := sources[0].Compile(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := p.Ceiling(t.Context(), &in)
		if err != nil {
			t.Fatal(err)
		}
		denied[k] = map[int]bool{}
		for i := range answer.Deny {
			denied[k][i] = true
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if len(denied[0]) < 100 || len(denied[0]) > 450 {
		t.Errorf("%d of 500 launches are denied: the question is not one", len(denied[0]))
	}
	if diff := cmp.Diff(denied[0], denied[1]); diff != "" {
		t.Errorf("-rego +wasm\n%s", diff)
	}
}
