package rego_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/rego"
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

// beside runs a benchmark of a policy after its native twin: the same rules in
// Go. n questions a call; x-native is the ratio of the two in this run.
func beside(b *testing.B, n int, native, ask func() error) {
	b.Helper()
	figure := 0.0
	for _, way := range []struct {
		name string
		run  func() error
	}{{"native", native}, {"rego", ask}} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := way.run(); err != nil {
					b.Fatal(err)
				}
			}
			took := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(n)
			if figure == 0 {
				figure = took
			}
			b.ReportMetric(took, "ns/question")
			b.ReportMetric(took/figure, "x-native")
		})
	}
}

func BenchmarkRank(b *testing.B) {
	p := load(b, policy.HookRank, shippedKinds, shippedConfig)
	in := &policy.RankInput{Call: moment, Rows: offerings(1000), Pool: policy.PoolFacts{Name: "web", Labels: map[string]string{"team": "web", "gpu": "no"}}}
	var config struct {
		Most         float64
		Zone, Family map[string]float64
	}
	if err := json.Unmarshal([]byte(shippedConfig), &config); err != nil {
		b.Fatal(err)
	}
	answers := make([]policy.RankAnswer, len(in.Rows))
	beside(b, len(in.Rows), func() error {
		team, gpu := in.Pool.Labels["team"], in.Pool.Labels["gpu"]
		for i := range in.Rows {
			r, a := &in.Rows[i], &answers[i]
			*a = policy.RankAnswer{Score: r.Cost}
			factor := func(n float64, why string) {
				if n != 1 {
					a.Score, a.Reason = a.Score*n, why
				}
			}
			spot := r.CapacityType == model.Spot
			switch {
			case r.GPUs > 0 && gpu != "yes":
				*a = policy.RankAnswer{Exclude: true, Reason: "gpu"}
				continue
			case r.Cost > config.Most:
				*a = policy.RankAnswer{Exclude: true, Reason: "too dear"}
				continue
			case spot && r.Interruption > 0.15:
				factor(1.3, "spot risk")
			case spot && team != "payments":
				factor(0.95, "spot")
			}
			if r.Arch == "arm64" && (team == "web" || team == "data") {
				factor(0.9, "arm")
			}
			if n, ok := config.Zone[r.Zone]; ok {
				factor(n, "zone")
			}
			if n, ok := config.Family[r.Family]; ok {
				factor(n, "family")
			}
		}
		return nil
	}, func() error { _, err := p.Rank(b.Context(), in); return err })
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
	answers := make([]policy.ConsolidateAnswer, len(in.Candidates))
	beside(b, len(answers), func() error {
		for i := range in.Candidates {
			c, a := &in.Candidates[i], &answers[i]
			*a = policy.ConsolidateAnswer{Verdict: policy.Allow, Cost: float64(c.Pods) * 0.1}
			switch {
			case c.Method != "Expired" && c.Labels["keep"] == "yes":
				a.Verdict, a.Reason = policy.Deny, "the node is protected by its label keep=yes"
			case c.Savings < 0.05:
				a.Verdict, a.Reason = policy.Deny, "saves too little"
			case c.AgeSeconds < 600:
				a.Verdict, a.HoldSeconds, a.Reason = policy.Hold, 600-c.AgeSeconds, "too young"
			}
		}
		return nil
	}, func() error { _, err := p.Consolidate(b.Context(), in); return err })
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
	hourly, monthly := 25.0, 100.0
	beside(b, len(in.Launches), func() error {
		answer := policy.CeilingAnswer{Caps: map[string]policy.Cap{"cluster": {HourlyUSD: &hourly}, "nodepool/gpu": {MonthlyUSD: &monthly}}, Deny: map[int][]string{}}
		for i := range in.Launches {
			l := &in.Launches[i]
			if l.WorstPrice > 5 {
				answer.Deny[i] = append(answer.Deny[i], "too dear")
			}
			if l.GPUs > 0 && l.PoolTags["team"] != "ml" {
				answer.Deny[i] = append(answer.Deny[i], "team "+l.PoolTags["team"]+" may not have GPUs")
			}
		}
		return nil
	}, func() error { _, err := p.Ceiling(b.Context(), in); return err })
}

// BenchmarkRankByOPA is BenchmarkRank with the compiled evaluator off.
func BenchmarkRankByOPA(b *testing.B) {
	p, err := (&rego.Engine{OPAOnly: true}).Compile(b.Context(), &policy.Source{
		Info: policy.Info{Name: "p", Hooks: []policy.Hook{policy.HookRank}}, Files: map[string]string{"p.rego": shippedKinds}, Config: []byte(shippedConfig),
	})
	if err != nil {
		b.Fatal(err)
	}
	in := &policy.RankInput{Call: moment, Rows: offerings(100), Pool: policy.PoolFacts{Name: "web", Labels: map[string]string{"team": "web", "gpu": "no"}}}
	for b.Loop() {
		if _, err := p.Rank(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(in.Rows)), "ns/question")
}
