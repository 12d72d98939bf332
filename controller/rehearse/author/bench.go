package author

import (
	"context"
	"fmt"
	"strings"
	"time"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/rehearse/source"
)

// Measurement is the speed of a policy on one hook.
type Measurement struct {
	Policy string      `json:"policy"`
	Hook   policy.Hook `json:"hook"`
	// Rows is the number of rows in each of Calls calls.
	Rows  int `json:"rows"`
	Calls int `json:"calls"`
	// NanosPerRow is the time per row of the fastest call, in nanoseconds.
	NanosPerRow float64 `json:"nsPerRow"`
	// FuelPerRow is the fuel used per row, 0 for engines without fuel.
	FuelPerRow float64 `json:"fuelPerRow,omitempty"`
	// Size is that of the ConfigMap in bytes. LoadMillis is the time from its contents
	// to the first answer, in milliseconds.
	Size       int     `json:"size"`
	LoadMillis float64 `json:"loadMs"`
	// Fault is why nothing could be measured.
	Fault string `json:"fault,omitempty"`
}

// benchRegion is the region whose catalogue is ranked. benchRows is the number of rows
// for the other hooks.
const (
	benchRegion = "us-east-1"
	benchRows   = 1000
)

// Bench measures every hook of a policy, each for about the given time. elapsed returns
// the time since a fixed start.
func (s *Source) Bench(ctx context.Context, about time.Duration, elapsed func() time.Duration) ([]Measurement, error) {
	start := elapsed()
	p, err := s.Compile(ctx, nil)
	if err != nil {
		return nil, err
	}
	loaded := elapsed() - start
	info := p.Info()
	if err := p.Close(ctx); err != nil {
		return nil, fmt.Errorf("end policy %s: %w", s.Name(), err)
	}
	var out []Measurement
	for _, hook := range info.Hooks {
		m := Measurement{Policy: s.Name(), Hook: hook, Size: source.Size(s.ConfigMap), LoadMillis: millis(loaded)}
		if err := s.measure(ctx, &m, about, elapsed); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// measure measures one hook with a newly compiled policy, so that its counters cover
// this hook only.
func (s *Source) measure(ctx context.Context, m *Measurement, about time.Duration, elapsed func() time.Duration) error {
	p, err := s.Compile(ctx, nil)
	if err != nil {
		return err
	}
	ask, rows, err := question(ctx, p, m.Hook)
	if err != nil {
		return err
	}
	m.Rows = rows
	least := time.Duration(0)
	for begin := elapsed(); m.Calls < 3 || elapsed()-begin < about; m.Calls++ {
		start := elapsed()
		if err := ask(); err != nil {
			m.Fault = err.Error()
			break
		}
		if took := elapsed() - start; least == 0 || took < least {
			least = took
		}
	}
	m.NanosPerRow = float64(least.Nanoseconds()) / float64(rows)
	m.FuelPerRow = float64(p.Stats().FuelHigh) / float64(rows)
	if err := p.Close(ctx); err != nil {
		return fmt.Errorf("end policy %s: %w", s.Name(), err)
	}
	return nil
}

// question returns a function that calls the hook once, and the number of rows of the
// call.
func question(ctx context.Context, p policy.Policy, hook policy.Hook) (ask func() error, rows int, err error) {
	call := policy.Call{Time: time.Date(2026, time.January, 5, 12, 0, 0, 0, time.UTC), Seed: 1, Generation: 1}
	switch hook {
	case policy.HookRank:
		in := &policy.RankInput{Call: call, Pool: policy.PoolFacts{Name: "default", PendingPods: 1000, PendingCPU: 500, PendingMemoryGiB: 2000}}
		if in.Rows, err = offerings(); err != nil {
			return nil, 0, err
		}
		return func() error { _, err := p.Rank(ctx, in); return err }, len(in.Rows), nil
	case policy.HookConsolidate:
		in := &policy.ConsolidateInput{Call: call}
		for i := range benchRows {
			in.Candidates = append(in.Candidates, policy.Candidate{
				Node: fmt.Sprintf("node-%d", i), Claim: fmt.Sprintf("claim-%d", i), NodePool: "default", Method: "Empty", Action: "delete",
				InstanceType: "m7g.large", Zone: benchRegion + "a", CapacityType: "spot", Price: 0.1, Savings: 0.1,
				AgeSeconds: float64(60 * i), IdleSeconds: float64(i), Labels: map[string]string{"kubernetes.io/arch": "arm64"},
			})
		}
		return func() error { _, err := p.Consolidate(ctx, in); return err }, benchRows, nil
	case policy.HookCeiling:
		in := &policy.CeilingInput{Call: call, Scopes: []policy.ScopeSpend{{Scope: "cluster", RunningUSD: 1}}}
		for i := range benchRows {
			in.Launches = append(in.Launches, policy.Launch{
				NodePool: "default", InstanceType: "m7g.large", Family: "m7g", Zone: benchRegion + "a", CapacityType: "spot",
				Price: 0.1, WorstPrice: 0.1, VCPU: 2, MemoryGiB: 8, Pods: 1 + i%10, Namespaces: []string{"default"},
			})
		}
		return func() error { _, err := p.Ceiling(ctx, in); return err }, benchRows, nil
	}
	return nil, 0, fmt.Errorf("hook %s cannot be measured", hook)
}

// offerings returns the offerings of the whole region as rows.
func offerings() ([]policy.RankRow, error) {
	types, sales, err := catalog.Load(benchRegion)
	if err != nil {
		return nil, err
	}
	all := catalog.Lower(types, sales, catalog.Options{Region: benchRegion})
	var out []policy.RankRow
	for i := range all.Types {
		t := &all.Types[i]
		family, _, _ := strings.Cut(t.Name, ".")
		for _, o := range t.Offerings {
			out = append(out, policy.RankRow{
				InstanceType: t.Name, Family: family, Zone: o.Zone, CapacityType: o.CapacityType, Arch: t.Arch,
				Billed: o.Price.USD(), Cost: o.Price.USD(), OnDemand: o.Price.USD(), Interruption: o.Interruption,
				VCPU: float64(t.Capacity[model.CPU]) / 1000, MemoryGiB: float64(t.Capacity[model.Memory]) / (1 << 30), PodsFit: 1,
			})
		}
	}
	return out, nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
