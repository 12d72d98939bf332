package rego_test

import (
	"testing"

	"spokeshave.dev/controller/core/policy"
)

// BenchmarkRankByPattern ranks 1,000 offerings with patterns in the rules, by programs and by
// OPA. Each pattern is compiled once in a question.
func BenchmarkRankByPattern(b *testing.B) {
	const first = `package spokeshave.rank
multiplier["new"] := 0.9 if regex.match("^[cmr][6-9][a-z]*[.](x?large|[0-9]+xlarge)$", input.offering.instanceType)
multiplier["west"] := 1.1 if glob.match("us-west-*", [], input.offering.zone)
`
	for name, rules := range map[string]string{
		"program": first,
		"opa":     first + `exclude contains "old" if count([1 | regex.match("^[cmr][1-5]", input.offering.family)]) > 0` + "\n",
	} {
		b.Run(name, func(b *testing.B) {
			p := load(b, policy.HookRank, rules, "")
			in := &policy.RankInput{Call: moment, Rows: offerings(1000)}
			b.ReportAllocs()
			for b.Loop() {
				got, err := p.Rank(b.Context(), in)
				if err != nil {
					b.Fatal(err)
				}
				in.Reuse = got
			}
		})
	}
}
