package isolate_test

import (
	"fmt"
	"testing"
	"time"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/isolate"
	"spokeshave.dev/controller/policy/rego"
)

const rules = `package spokeshave.rank

multiplier["base"] := 1
multiplier["arm"] := 0.9 if { input.offering.arch == "arm64"; input.pool.labels.team in {"web", "data"} }
multiplier["spot risk"] := 1.3 if { input.offering.capacityType == "spot"; input.offering.interruption > 0.15 }
multiplier["spot"] := 0.95 if { input.offering.capacityType == "spot"; input.offering.interruption <= 0.15; input.pool.labels.team != "payments" }
multiplier["zone"] := data.config.zone[input.offering.zone]
multiplier["family"] := data.config.family[input.offering.family]
exclude contains "gpu" if { input.offering.gpus > 0; input.pool.labels.gpu != "yes" }
exclude contains "too dear" if input.offering.cost > data.config.most
`

const config = `{"most": 20, "zone": {"us-west-2a": 1.05, "us-west-2b": 1, "us-west-2c": 0.98},
	"family": {"c5g": 0.9, "c6g": 0.8, "c7g": 0.7, "m5i": 1.1, "m6i": 1.05, "m7i": 1, "r5a": 1.2, "r6a": 1.15, "r7a": 1.1}}`

func offerings(n int) []policy.RankRow {
	out := make([]policy.RankRow, n)
	for i := range out {
		family := fmt.Sprintf("%c%d%s", "cmr"[i%3], 5+i/3%3, []string{"g", "i", "a"}[i/9%3])
		out[i] = policy.RankRow{
			Family: family, InstanceType: fmt.Sprintf("%s.%dxlarge", family, i/27%9), Zone: fmt.Sprintf("us-west-2%c", "abc"[i%3]),
			CapacityType: []model.CapacityType{model.Spot, model.OnDemand}[i%2], Arch: []string{"amd64", "arm64"}[i/9%2],
			VCPU: 2, MemoryGiB: 8, Billed: float64(i) / 100, Cost: float64(i) / 100, Interruption: float64(i%7) / 20, GPUs: uint32(i % 50 / 49),
		}
	}
	return out
}

// BenchmarkRank asks about 1,000 offerings, in this process and in one apart; x-here is
// the ratio of the two in this run.
func BenchmarkRank(b *testing.B) {
	in := &policy.RankInput{Call: moment, Rows: offerings(1000), Pool: policy.PoolFacts{Name: "web", Labels: map[string]string{"team": "web", "gpu": "no"}}}
	in.Generation = 5
	apart, _ := isolated()
	here := 0.0
	for _, way := range []struct {
		name   string
		engine policy.Engine
	}{{"here", engine.All()[rego.Name]}, {"apart", apart}} {
		src := source("p", policy.HookRank, map[string]string{"p.rego": rules})
		src.Config = []byte(config)
		p := compile(b, way.engine, src)
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				got, err := p.Rank(b.Context(), in)
				if err != nil {
					b.Fatal(err)
				}
				in.Reuse = got
			}
			took := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
			if here == 0 {
				here = took
			}
			b.ReportMetric(took/here, "x-here")
		})
	}
}

// BenchmarkFirstUse is what a policy takes from its source to its first answer, with a
// process for its trial and one that answers.
func BenchmarkFirstUse(b *testing.B) {
	in := &policy.RankInput{Call: moment, Rows: offerings(1000)}
	for b.Loop() {
		e, _ := isolated()
		src := source("p", policy.HookRank, map[string]string{"p.rego": rules})
		src.Config = []byte(config)
		p, err := e.Compile(b.Context(), src)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Rank(b.Context(), in); err != nil {
			b.Fatal(err)
		}
		if err := p.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRestart ends the process that answers for 50 policies, of one rule or of eight, by a bomb. answer-ms
// is how long it takes then until one of them answers, all-ms until all of them are loaded again.
func BenchmarkRestart(b *testing.B) {
	one := "package spokeshave.rank\nmultiplier[\"arm\"] := 0.9 if input.offering.arch == \"arm64\"\n"
	for name, text := range map[string]string{"rules=1": one, "rules=8": rules} {
		b.Run(name, func(b *testing.B) {
			e, c := isolated()
			var all []policy.Compiled
			for i := range 50 {
				src := source(fmt.Sprintf("p%d", i), policy.HookRank, map[string]string{"p.rego": text})
				src.Config = []byte(config)
				all = append(all, compile(b, e, src))
			}
			bomb := compile(b, e, source("bomb", policy.HookConsolidate, bombed()))
			now := moment
			var answer, restart time.Duration
			for b.Loop() {
				now.Time = now.Time.Add(time.Hour) // the bomb is off for a while each time
				explode(b, bomb, c, now)
				begun := time.Now()
				if _, err := all[len(all)/2].Rank(b.Context(), &policy.RankInput{Call: now, Rows: offerings(10)}); err != nil {
					b.Fatal(err)
				}
				answer += time.Since(begun)
				for range time.Tick(time.Millisecond) {
					if loaded(all) {
						break
					}
				}
				restart += time.Since(begun)
			}
			b.ReportMetric(float64(answer.Microseconds())/1e3/float64(b.N), "answer-ms")
			b.ReportMetric(float64(restart.Microseconds())/1e3/float64(b.N), "all-ms")
		})
	}
}

// explode asks a bombed policy until it has ended its process.
func explode(b *testing.B, bomb policy.Compiled, c *counts, now policy.Call) {
	b.Helper()
	for before := c.of("bomb"); c.of("bomb") == before; now.Time = now.Time.Add(time.Hour) {
		if _, err := bomb.Consolidate(b.Context(), &policy.ConsolidateInput{Call: now, Candidates: []policy.Candidate{{Node: "n", Pods: 7}}}); err == nil {
			b.Fatal("no bomb")
		}
	}
}

func loaded(all []policy.Compiled) bool {
	for _, p := range all {
		if !isolate.Loaded(p) {
			return false
		}
	}
	return true
}
