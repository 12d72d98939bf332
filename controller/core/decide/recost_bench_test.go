package decide

import (
	"fmt"
	"testing"

	"spokeshave.dev/controller/core/policy"
)

// BenchmarkCountingPolicies has a search among nodes that nothing improves, without a policy
// that counts what runs and with one: calls are the questions to the policy of a decision.
func BenchmarkCountingPolicies(b *testing.B) {
	for _, nodes := range []int{50, 500} {
		for _, counting := range []bool{false, true} {
			b.Run(fmt.Sprintf("nodes=%d/counting=%t", nodes, counting), func(b *testing.B) {
				s, calls := singles("m.small", nodes/2, nodes-nodes/2), 0
				each := mixed(2, 0.5)
				if !counting {
					each = avoid("none")
				}
				rank := each.rank
				each.rank = func(in *policy.RankInput) []policy.RankAnswer {
					calls++
					return rank(in)
				}
				for b.Loop() {
					if _, err := Decide(b.Context(), s, []policy.Policy{each}, Options{Disrupt: true, Search: true}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(calls)/float64(b.N), "calls/op")
			})
		}
	}
}
