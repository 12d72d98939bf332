package backtest

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"spokeshave.dev/controller/cloud/sim"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/core/spend"
)

// Config describes a run. Every field but Workload has a default, which its zero value
// selects.
type Config struct {
	Workload *Workload
	Policies []policy.Policy
	// Seed is the seed of the spot market.
	Seed   uint64
	Market Market
	// Boot is how long a machine takes to become a ready node. The default is 45
	// seconds.
	Boot time.Duration
	// Batch is how long after the arrival of a pod that does not fit a decision is
	// made; the default is 1 second. Look is how often disruption is decided while the
	// cluster changes; the default is 1 minute. Search is how often replacements are
	// searched for; the default is 5 minutes.
	Batch, Look, Search time.Duration
}

// Run runs the workload. An error is a defect of the program, or comes from the
// context.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	w, err := newWorld(ctx, cfg)
	if err != nil {
		return nil, err
	}
	for w.queue.Len() > 0 {
		e, ok := heap.Pop(&w.queue).(event)
		if !ok || e.at.After(w.cfg.Workload.End) {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("backtest: %w", err)
		}
		w.advance(e.at)
		if err := e.do(ctx); err != nil {
			return nil, fmt.Errorf("backtest at %s: %w", e.at.Format(time.RFC3339), err)
		}
	}
	w.advance(w.cfg.Workload.End)
	return w.result(), nil
}

func orDefault(d, standard time.Duration) time.Duration {
	if d == 0 {
		return standard
	}
	return d
}

func newWorld(ctx context.Context, cfg Config) (*simulation, error) {
	if cfg.Workload == nil || !cfg.Workload.End.After(cfg.Workload.Start) {
		return nil, errors.New("backtest: the workload has no beginning or no end")
	}
	cfg.Boot, cfg.Batch = orDefault(cfg.Boot, 45*time.Second), orDefault(cfg.Batch, time.Second)
	cfg.Look, cfg.Search = orDefault(cfg.Look, time.Minute), orDefault(cfg.Search, 5*time.Minute)
	w := &simulation{
		cfg: cfg, base: cfg.Workload.Base, clock: sim.NewClock(cfg.Workload.Start),
		rng:  rand.New(rand.NewPCG(cfg.Seed, 0x5b0de)), //nolint:gosec // a simulation, and it must repeat
		byID: map[string]*machine{}, allow: cfg.Workload.Allow,
		types: map[string]int{}, interrupts: rand.New(rand.NewPCG(cfg.Seed, 0x17)), //nolint:gosec // the same
	}
	if w.allow == nil {
		w.allow = tenth
	}
	for _, p := range cfg.Policies {
		if info := p.Info(); info.Answers(policy.HookCeiling) {
			w.capped = true
		}
	}
	w.base.Specs = slices.Clone(w.base.Specs)
	if err := w.openMarket(); err != nil {
		return nil, err
	}
	for i := range w.base.Daemons {
		w.base.Specs = append(w.base.Specs, w.base.Daemons[i].Spec)
	}
	w.ledger = spend.New(w.snapshot(ctx))
	for i := range cfg.Workload.Pods {
		w.arrive(&cfg.Workload.Pods[i])
	}
	w.at(cfg.Workload.Start, w.sample)
	return w, nil
}

// event is a function that runs at a time. Events of one time run in the order in which
// they were scheduled.
type event struct {
	at time.Time
	no int
	do func(context.Context) error
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	if e[i].at.Equal(e[j].at) {
		return e[i].no < e[j].no
	}
	return e[i].at.Before(e[j].at)
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any) {
	if v, ok := x.(event); ok {
		*e = append(*e, v)
	}
}

func (e *events) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

func (w *simulation) at(when time.Time, do func(context.Context) error) {
	w.planned++
	heap.Push(&w.queue, event{at: when, no: w.planned, do: do})
}
