package backtest

import (
	"bytes"
	"container/heap"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/test/kit/instancetype"
)

func monday() time.Time { return time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) }

func size(name string, cpu, gib int64, price model.Price) model.InstanceType {
	spot := instancetype.Spot("a", price/3)
	spot.Interruption = 0.2
	return instancetype.New(name, cpu, gib, 50, instancetype.OnDemand("a", price), spot)
}

// workload returns a workload of the given number of pods over a day, for the given
// capacity types.
func workload(pods int, capacity ...string) *Workload {
	requests := func(cpu, gib int64) model.Resources {
		return model.Resources{model.CPU: cpu, model.Memory: gib << 30, model.PodSlots: 1}
	}
	w := &Workload{Start: monday(), Base: model.Snapshot{
		Pools: []model.Pool{{
			Name: "general", NodeClass: "default",
			Requirements: []model.Requirement{{Key: "karpenter.sh/capacity-type", Operator: model.In, Values: capacity}},
			Disruption:   model.Disruption{Policy: "WhenEmptyOrUnderutilized", ConsolidateAfter: time.Minute},
		}},
		Catalogs: []model.Catalog{instancetype.Catalog(
			size("c.1", 2000, 4, 80_000), size("c.2", 4000, 8, 158_000), size("c.4", 8000, 16, 315_000),
		)},
		Specs:   []model.PodSpec{{Namespace: "shop", Requests: requests(500, 1)}, {Namespace: "shop", Requests: requests(1500, 2)}},
		Daemons: []model.DaemonSet{{Namespace: "kube-system", Name: "proxy", Spec: model.PodSpec{Namespace: "kube-system", Requests: requests(100, 0)}}},
	}}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range pods {
		w.Pods = append(w.Pods, Pod{
			Namespace: "shop", Name: fmt.Sprint("p", i), Workload: "Deployment/web", Spec: int32(i % 2), Job: i%5 == 0,
			Arrival: monday().Add(time.Duration(rng.IntN(20*3600)) * time.Second), Lifetime: time.Duration(600+rng.IntN(7200)) * time.Second,
		})
	}
	w.finish(0)
	return w
}

// TestSameSeedSameResult: equal seeds give exactly equal results, and another seed
// gives another market.
func TestSameSeedSameResult(t *testing.T) {
	run := func(seed uint64) string {
		r, err := Run(t.Context(), Config{Workload: workload(300, "spot", "on-demand"), Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	a := run(1)
	if diff := cmp.Diff(a, run(1)); diff != "" {
		t.Errorf("the same seed: %s", diff)
	}
	if a == run(2) {
		t.Error("another seed makes no difference")
	}
}

// TestInvariants: at every moment no node is overfull, the lists of pods and machines
// agree, and machines are nodes; at the end every pod has run.
func TestInvariants(t *testing.T) {
	cfg := Config{Workload: workload(300, "spot", "on-demand"), Seed: 3, Market: Market{Interruptions: 300, Shortages: 0.5, Volatility: 0.5}}
	w, err := newWorld(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for w.queue.Len() > 0 {
		e := heap.Pop(&w.queue).(event)
		if e.at.After(cfg.Workload.End) {
			break
		}
		w.advance(e.at)
		if err := e.do(t.Context()); err != nil {
			t.Fatal(err)
		}
		on := 0
		for _, m := range w.nodes {
			want := m.Allocatable.Clone()
			for _, p := range m.pods {
				if p.node != m || p.gone {
					t.Fatalf("%s: %s is on %s and elsewhere", w.now(), p.Name, m.Name)
				}
				subtract(want, w.base.Specs[p.Spec].Requests, 1)
				on++
			}
			if diff := cmp.Diff(want, m.free); diff != "" || m.free[model.CPU] < 0 || m.free[model.Memory] < 0 {
				t.Fatalf("%s: %s has free %v: %s", w.now(), m.Name, m.free, diff)
			}
		}
		bound := 0
		for _, p := range w.pods {
			if p.node != nil && !p.gone {
				bound++
			}
		}
		if bound != on {
			t.Fatalf("%s: %d pods say they run, %d do", w.now(), bound, on)
		}
	}
	alive := 0
	for _, m := range w.cloud.Machines() {
		if m.State == "pending" || m.State == "running" {
			alive++
		}
	}
	if alive != len(w.nodes) {
		t.Errorf("%d machines for %d nodes", alive, len(w.nodes))
	}
	r := w.result()
	if r.Interruptions == 0 || r.Survived > r.Interruptions || r.Shortages+r.Evictions == 0 || len(r.Disrupted) == 0 {
		t.Errorf("nothing happened: %+v", r)
	}
	if r.Pods != 300 || r.Pending != 0 {
		t.Errorf("%d pods came, %d wait", r.Pods, r.Pending)
	}
}

// TestMoney: the cost of one pod that runs for two hours on a machine of a known price.
func TestMoney(t *testing.T) {
	w := workload(0, "on-demand")
	w.Pods = []Pod{{Namespace: "shop", Name: "p", Spec: 1, Arrival: monday(), Lifetime: 2 * time.Hour}}
	w.Base.Catalogs[0].NodeCost = 2_000
	w.finish(0)
	r, err := Run(t.Context(), Config{Workload: w})
	if err != nil {
		t.Fatal(err)
	}
	hours := r.NodeHours["on-demand"]
	if r.Launches != 1 || hours < 2 || hours > 2.1 || math.Abs(r.USD-hours*0.082) > 1e-5 {
		t.Errorf("%d launches, %v node-hours, %v $", r.Launches, hours, r.USD)
	}
	if r.PendingP50 != 46 || r.Disrupted["Empty"] != 1 {
		t.Errorf("waited %v s, disrupted %v", r.PendingP50, r.Disrupted)
	}
}

// capped returns a ceiling policy that allows one small node.
type capped struct{ policy.Policy }

func (capped) Info() policy.Info {
	return policy.Info{Name: "cap", Namespace: "spokeshave", Hooks: []policy.Hook{policy.HookCeiling}, Mode: policy.Enforce}
}

func (capped) Ceiling(context.Context, *policy.CeilingInput) (policy.CeilingAnswer, error) {
	usd := 0.1
	return policy.CeilingAnswer{Caps: map[string]policy.Cap{"cluster": {HourlyUSD: &usd}}}, nil
}

func TestCeiling(t *testing.T) {
	r, err := Run(t.Context(), Config{Workload: workload(100, "on-demand"), Policies: []policy.Policy{capped{}}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Curve {
		if r.Curve[i].HourlyUSD > 0.1 {
			t.Errorf("%s: %v $/h", r.Curve[i].Time, r.Curve[i].HourlyUSD)
		}
	}
	if len(r.Curve) == 0 || r.CeilingHits == 0 || r.PendingP99 < 600 {
		t.Errorf("%d points, %d hits, p99 %v s", len(r.Curve), r.CeilingHits, r.PendingP99)
	}
}

func TestNoWorkload(t *testing.T) {
	if _, err := Run(t.Context(), Config{Workload: &Workload{}}); err == nil {
		t.Error("accepted")
	}
}

// TestPage: the page is one file that loads nothing, with one curve per set and chart.
func TestPage(t *testing.T) {
	report := &Report{Start: monday(), Seed: 1}
	for _, name := range []string{"none", "<script>"} {
		r, err := Run(t.Context(), Config{Workload: workload(30, "on-demand")})
		if err != nil {
			t.Fatal(err)
		}
		r.Name = name
		report.Sets, report.End = append(report.Sets, r), workload(30).End
	}
	var out bytes.Buffer
	if err := report.WriteHTML(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if n := strings.Count(text, "<polyline"); n != 8 {
		t.Errorf("%d curves", n)
	}
	for _, no := range []string{"http:", "https:", "src=", "@import", "url(", "<link", "<script>"} {
		if strings.Contains(text, no) {
			t.Errorf("%q is in it", no)
		}
	}
	if rows := report.Rows(); len(rows) < 12 || rows[0][1] != "none" || rows[1][0] != "dollars" {
		t.Errorf("rows %v", rows)
	}
}
