package rego_test

import (
	"fmt"
	"testing"

	"spokeshave.dev/controller/model"
	"spokeshave.dev/controller/policy"
)

// offerings makes n rows as varied as those of a real region.
func offerings(n int) []policy.RankRow {
	sizes := []string{"large", "xlarge", "2xlarge", "4xlarge", "8xlarge"}
	out := make([]policy.RankRow, n)
	for i := range out {
		family := fmt.Sprintf("%c%d%s", "cmr"[i%3], 5+i/3%3, []string{"g", "i", "a"}[i/9%3])
		size := i / 27 % 5
		r := policy.RankRow{
			Family: family, InstanceType: family + "." + sizes[size], Zone: fmt.Sprintf("us-west-2%c", "abc"[i%3]),
			CapacityType: model.OnDemand, Arch: "amd64", VCPU: float64(int(2) << size), MemoryGiB: float64(int(8) << size),
			OnDemand: 0.05*float64(int(2)<<size) + float64(i)/1e4, PodsFit: uint32(i % 30), Running: uint32(i % 4),
		}
		r.Billed = r.OnDemand
		if family[2] == 'g' {
			r.Arch = "arm64"
		}
		if i%2 == 0 {
			r.CapacityType, r.Billed, r.Interruption = model.Spot, r.OnDemand*0.3, float64(i%7)/20
		}
		if i%50 == 0 {
			r.GPUs = 1
		}
		r.Cost = r.Billed
		out[i] = r
	}
	return out
}

const shippedKinds = `package spokeshave.rank

multiplier["base"] := 1
multiplier["arm"] := 0.9 if { input.offering.arch == "arm64"; input.pool.labels.team in {"web", "data"} }
multiplier["spot risk"] := 1.3 if { input.offering.capacityType == "spot"; input.offering.interruption > 0.15 }
multiplier["spot"] := 0.95 if { input.offering.capacityType == "spot"; input.offering.interruption <= 0.15; input.pool.labels.team != "payments" }
multiplier["zone"] := data.config.zone[input.offering.zone]
multiplier["family"] := data.config.family[input.offering.family]
exclude contains "gpu" if { input.offering.gpus > 0; input.pool.labels.gpu != "yes" }
exclude contains "too dear" if input.offering.cost > data.config.most
`

const shippedConfig = `{"most": 20, "zone": {"us-west-2a": 1.05, "us-west-2b": 1, "us-west-2c": 0.98},
	"family": {"c5g": 0.9, "c6g": 0.8, "c7g": 0.7, "m5i": 1.1, "m6i": 1.05, "m7i": 1, "r5a": 1.2, "r6a": 1.15, "r7a": 1.1}}`

func BenchmarkRank(b *testing.B) {
	p := load(b, policy.HookRank, shippedKinds, shippedConfig)
	in := &policy.RankInput{Call: moment, Rows: offerings(1000), Pool: policy.PoolFacts{Name: "web", Labels: map[string]string{"team": "web", "gpu": "no"}}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Rank(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkConsolidate(b *testing.B) {
	p := load(b, policy.HookConsolidate, `package spokeshave.consolidate
deny contains reason if {
	input.candidate.method != "Expired"
	some key, value in data.config.protected
	input.candidate.labels[key] == value
	reason := sprintf("the node is protected by its label %s=%s", [key, value])
}
deny contains "saves too little" if input.candidate.savings < data.config.least
hold["too young"] := 600 - input.candidate.ageSeconds if input.candidate.ageSeconds < 600
cost["pods"] := input.candidate.pods * 0.1
`, `{"least": 0.05, "protected": {"keep": "yes"}}`)
	in := &policy.ConsolidateInput{Call: moment, Candidates: make([]policy.Candidate, 100)}
	for i := range in.Candidates {
		in.Candidates[i] = policy.Candidate{
			Node: fmt.Sprint("n", i), Method: "Underutilized", Savings: float64(i) / 500, Pods: i % 9, AgeSeconds: float64(i * 20),
			Labels: map[string]string{"zone": "a", "arch": "arm64", "team": fmt.Sprint(i % 5), "type": "m7g.large"},
		}
	}
	for b.Loop() {
		if _, err := p.Consolidate(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/candidate")
}

func BenchmarkCeiling(b *testing.B) {
	p := load(b, policy.HookCeiling, `package spokeshave.ceiling
cap[scope] := limit if some scope, limit in data.config.caps
deny contains "too dear" if input.launch.worstPrice > data.config.most
deny contains reason if {
	input.launch.gpus > 0
	not input.launch.nodePoolLabels.team in data.config.gpuTeams
	reason := sprintf("team %s may not have GPUs", [input.launch.nodePoolLabels.team])
}
`, `{"most": 5, "gpuTeams": ["ml"], "caps": {"cluster": {"hourly_usd": 25}, "nodepool/gpu": {"monthly_usd": 100}}}`)
	in := &policy.CeilingInput{Call: moment, Scopes: []policy.ScopeSpend{{Scope: "cluster", RunningUSD: 4}}, Launches: make([]policy.Launch, 100)}
	for i := range in.Launches {
		in.Launches[i] = policy.Launch{NodePool: "a", WorstPrice: float64(i) / 15, GPUs: i % 3, PoolTags: map[string]string{"team": []string{"ml", "web"}[i%2]}}
	}
	for b.Loop() {
		if _, err := p.Ceiling(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/launch")
}
