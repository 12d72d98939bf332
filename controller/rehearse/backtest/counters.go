package backtest

import (
	"context"
	"maps"
	"slices"
	"time"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
)

// counters holds the running counts of a run.
type counters struct {
	pods, evictions, launches, shortages, ceilingHits, decisions int
	interruptions, survived                                      int
	gone                                                         map[string]int
	waits                                                        []time.Duration
	spent                                                        map[model.CapacityType]*spend.Amount
	hours                                                        map[model.CapacityType]time.Duration
	curves                                                       []Sample
}

func (t *counters) charge(nodes []*machine, d time.Duration) {
	if t.spent == nil {
		t.spent, t.hours = map[model.CapacityType]*spend.Amount{}, map[model.CapacityType]time.Duration{}
	}
	sums, counts := map[model.CapacityType]model.Price{}, map[model.CapacityType]int64{}
	for _, m := range nodes {
		sums[m.CapacityType] += m.Cost()
		counts[m.CapacityType]++
	}
	for kind, price := range sums {
		if t.spent[kind] == nil {
			t.spent[kind] = &spend.Amount{}
		}
		t.spent[kind].Accrue(price, d)
		t.hours[kind] += time.Duration(counts[kind]) * d
	}
}

func (t *counters) waited(d time.Duration, p *pod) {
	if !p.daemon {
		t.waits = append(t.waits, d)
	}
}

func (t *counters) disrupted(method string) {
	if t.gone == nil {
		t.gone = map[string]int{}
	}
	t.gone[method]++
}

// sample records the state of the cluster. It runs every hour.
func (w *simulation) sample(context.Context) error {
	x := Sample{Time: w.now(), Nodes: len(w.nodes)}
	var asked, held int64
	for _, m := range w.nodes {
		x.HourlyUSD += m.Cost().USD()
		held += m.Allocatable[model.CPU]
		asked += m.Allocatable[model.CPU] - m.free[model.CPU]
	}
	for _, p := range w.pods {
		if !p.gone && !p.daemon {
			x.Pods++
			if p.node == nil {
				x.Pending++
			}
		}
	}
	if held > 0 {
		x.CPU = float64(asked) / float64(held)
	}
	w.tally.curves = append(w.tally.curves, x)
	w.at(w.now().Add(time.Hour), w.sample)
	return nil
}

func (w *simulation) result() *Result {
	t := &w.tally
	r := &Result{
		Pods: t.pods, Decisions: t.decisions, Launches: t.launches, Shortages: t.shortages, Evictions: t.evictions,
		Interruptions: t.interruptions, Survived: t.survived, CeilingHits: t.ceilingHits, Disrupted: t.gone,
		NodeHours: map[string]float64{}, USDByType: map[string]float64{}, Curve: t.curves,
	}
	if r.Disrupted == nil {
		r.Disrupted = map[string]int{}
	}
	var micro int64
	for _, kind := range slices.Sorted(maps.Keys(t.spent)) {
		micro += t.spent[kind].Micro
		r.USDByType[string(kind)] = float64(t.spent[kind].Micro) / 1e6
		r.NodeHours[string(kind)] = t.hours[kind].Hours()
	}
	r.USD = float64(micro) / 1e6
	slices.Sort(t.waits)
	r.PendingP50, r.PendingP99 = quantile(t.waits, 50).Seconds(), quantile(t.waits, 99).Seconds()
	for _, p := range w.pods {
		if !p.gone && p.node == nil {
			r.Pending++
		}
	}
	return r
}

// quantile returns the smallest of the sorted values that percent of them do not
// exceed.
func quantile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*percent+99)/100-1]
}
