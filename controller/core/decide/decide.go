// Package decide composes a decision: rank, headroom, solve, review, and which
// nodes may go. It is the only composition of the core; the controller and the
// command line both call it.
//
// Decide is a function of the snapshot and the policies. It reads no clock (the
// snapshot carries the time; a stopwatch may be handed in for the timings) and
// does no I/O beyond asking the policies.
package decide

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/core/solver"
	"spokeshave.dev/controller/core/spend"
)

// Options tune a decision. The zero value is the product's default.
type Options struct {
	// Missing names required policies that are not active: with any of them
	// absent nothing is launched.
	Missing []string
	// LastCaps are each ceiling policy's caps from the decision before, by
	// namespace/name: they stand in for a policy that fails.
	LastCaps map[string]map[string]policy.Cap
	// Greedy packs without improvement.
	Greedy bool
	// Bound also asks for Stats.Bound, which takes longer than the plan.
	Bound bool
	// Disrupt also looks for nodes that may go, and carries commands under
	// way on.
	Disrupt bool
	// Search also looks for nodes that could be replaced: drifted ones, and
	// those that cost more than others would. It takes longer than the rest.
	Search bool
	// SearchEffort bounds the search; zero is the default.
	SearchEffort disrupt.Effort
	// Explain judges every node, those for which nothing was found included.
	Explain bool
	// Elapsed is a stopwatch for the timings; nil leaves them at zero.
	Elapsed func() time.Duration
}

// Decision is what was decided, and everything needed to explain it.
type Decision struct {
	// ID is derived from the inputs' clock and the plan: the same decision
	// has the same ID.
	ID   string     `json:"id"`
	Time time.Time  `json:"time"`
	Plan model.Plan `json:"plan"`
	// Disruptions judges every node that could go.
	Disruptions []Disruption `json:"disruptions,omitempty"`
	// Commands move several nodes at once, or launch something in their stead.
	Commands []Command `json:"commands,omitempty"`
	// Eligible counts by method the nodes that nothing but policies and budgets
	// could keep.
	Eligible map[Method]int `json:"-"`
	// Barren are the pools, by their place in Snapshot.Pools, whose requirements
	// no instance type of their catalogue meets.
	Barren []int32 `json:"-"`
	// Headroom is what each capped scope had left before the plan.
	Headroom []CapStatus `json:"headroom,omitempty"`
	// Warnings are for people: soft caps passed, scopes nobody accounts for.
	Warnings []string     `json:"warnings,omitempty"`
	Policies []policy.Use `json:"policies"`
	// Caps are the ceiling policies' caps, for Options.LastCaps.
	Caps  map[string]map[string]policy.Cap `json:"-"`
	Stats solver.Stats                     `json:"-"`
	// Ranked is what the rank policies were asked about, and what they made of it.
	Ranked []Ranked `json:"-"`
	Timing Timing   `json:"-"`
	// Postponed says that the search that was asked for was not made: what is
	// launched comes first.
	Postponed bool `json:"-"`
}

// Ranked is the pipeline's answer for one pool: a row per offering.
type Ranked struct {
	// Pool indexes Snapshot.Pools.
	Pool    int32
	Rows    []policy.RankRow
	Outcome policy.RankOutcome
}

// Timing says where the time went.
type Timing struct {
	Rank, Solve, Review, Disrupt, Total time.Duration
}

// CapStatus is the room under one cap.
type CapStatus struct {
	Scope  string      `json:"scope"`
	Policy string      `json:"policy"`
	Cap    string      `json:"cap"`
	Left   model.Price `json:"left"`
	// Period is what the cap is on: an hour's rate, or the month's sum. Limit
	// is the cap in USD.
	Period Period  `json:"period"`
	Limit  float64 `json:"limitUSD"`
	// Soft caps warn and let through.
	Soft bool `json:"soft,omitempty"`
	// Burn is what runs and is in flight, per hour.
	Burn model.Price `json:"burn"`
	// SecondsToCap is when a month's cap is used up at that rate; -1 is never.
	SecondsToCap int64 `json:"secondsToCap"`
	// Short says that pods wait because of the cap: consolidation within its
	// scope comes first, and at once.
	Short bool `json:"short,omitempty"`
}

// Short are the scopes whose caps keep pods waiting.
func (d *Decision) Short() []string {
	var out []string
	for i := range d.Headroom {
		if d.Headroom[i].Short {
			out = append(out, d.Headroom[i].Scope)
		}
	}
	return out
}

// Period is what a cap is on.
type Period string

// The periods.
const (
	PerHour  Period = "hour"
	PerMonth Period = "month"
)

type decider struct {
	s        *model.Snapshot
	policies []policy.Policy
	panel    *policy.Panel
	opts     Options
	pending  []int32
	spaces   []namespaceCap
	scopes   []spend.Scope
	presence *spend.Presence
	out      Decision
	// groups numbers the groups that offerings use up together.
	groups map[policy.GroupKey]int32
	usage  *usage
	// short are the pools whose money pods wait for, nil for none.
	short []bool
	// in is the question to the solver, once prepared.
	in *solver.Input
}

// Decide answers what to launch, where each pending pod goes, and which nodes
// may be disrupted. An error means a defect (a plan that does not prove right);
// pods without a place and policies at fault are data in the Decision.
func Decide(ctx context.Context, s *model.Snapshot, policies []policy.Policy, opts Options) (Decision, error) {
	if opts.Elapsed == nil {
		opts.Elapsed = func() time.Duration { return 0 }
	}
	start := opts.Elapsed()
	d := &decider{s: s, policies: policies, panel: policy.NewPanel(policies, opts.Elapsed), opts: opts}
	d.out.Time = s.Time
	for i := range s.Pods {
		if s.NeedsPlace(&s.Pods[i]) {
			d.pending = append(d.pending, int32(i))
		}
	}
	if len(d.pending) > 0 {
		if err := d.provision(ctx); err != nil {
			return d.out, err
		}
		d.short = d.shortage()
	}
	if opts.Disrupt {
		from := opts.Elapsed()
		if err := d.disrupt(ctx); err != nil {
			return d.out, err
		}
		d.out.Timing.Disrupt = opts.Elapsed() - from
	}
	if opts.Disrupt && d.out.Caps == nil {
		// Nothing had to be bought: the caps are looked at all the same, for
		// whoever watches how near they are.
		d.ceilings(ctx, &solver.Input{Blocked: make([]*model.Reason, len(s.Pools))})
	}
	d.out.Barren = d.poolsWithoutOfferings()
	d.out.Policies = d.panel.Uses()
	id, err := d.id()
	if err != nil {
		return d.out, err
	}
	d.out.ID = id
	d.out.Timing.Total = opts.Elapsed() - start
	return d.out, nil
}

// provision fills in the plan.
func (d *decider) provision(ctx context.Context) error {
	in := d.input(ctx)
	start := d.opts.Elapsed()
	d.out.Plan, d.out.Stats = solver.Solve(*in)
	d.out.Timing.Solve = d.opts.Elapsed() - start
	if d.opts.Bound {
		d.out.Stats.Bound = solver.LowerBound(*in, &d.out.Plan)
	}
	start = d.opts.Elapsed()
	d.review(ctx, in)
	d.namespaceCaps(ctx, in)
	d.out.Timing.Review = d.opts.Elapsed() - start
	return d.prove(in, &d.out.Plan, d.pending)
}

// input asks the policies for prices and caps, once per decision.
func (d *decider) input(ctx context.Context) *solver.Input {
	if d.in != nil {
		return d.in
	}
	d.in = &solver.Input{
		Snapshot: d.s, Pods: d.pending,
		Blocked: make([]*model.Reason, len(d.s.Pools)), Costs: make([]solver.Costs, len(d.s.Pools)),
		Effort: solver.DefaultEffort, Tolerance: solver.DefaultTolerance, Offerings: solver.NewOfferings(),
	}
	if d.opts.Greedy {
		d.in.Effort = 0
	}
	start := d.opts.Elapsed()
	d.rank(ctx, d.in)
	d.out.Timing.Rank = d.opts.Elapsed() - start
	d.ceilings(ctx, d.in)
	return d.in
}

// prove has a plan checked by code that shares nothing with the solver.
func (d *decider) prove(in *solver.Input, plan *model.Plan, pods []int32) error {
	c := check.Constraints{Pods: pods, Headroom: in.Headroom, Denied: in.Denied, Excluded: d.excluded(in)}
	if wrong := check.Plan(in.Snapshot, plan, c); len(wrong) > 0 {
		return fmt.Errorf("prove plan: %d violations, the first: %v", len(wrong), wrong[0])
	}
	return nil
}

// excluded says which offerings the rank policies dropped.
func (d *decider) excluded(in *solver.Input) func(int32, model.Option) bool {
	dropped := map[int32]map[model.Option]bool{}
	for pool := range in.Costs {
		if in.Costs[pool] == nil {
			continue
		}
		out := map[model.Option]bool{}
		types := d.s.Catalogs[d.s.Pools[pool].Catalog].Types
		for t := range in.Costs[pool] {
			for o := range in.Costs[pool][t] {
				if in.Costs[pool][t][o].Excluded {
					of := &types[t].Offerings[o]
					out[model.Option{InstanceType: types[t].Name, Zone: of.Zone, CapacityType: of.CapacityType}] = true
				}
			}
		}
		dropped[int32(pool)] = out
	}
	return func(pool int32, o model.Option) bool {
		return dropped[pool][model.Option{InstanceType: o.InstanceType, Zone: o.Zone, CapacityType: o.CapacityType}]
	}
}

func (d *decider) call(generation uint64) policy.Call {
	return policy.Call{Time: d.s.Time, Seed: d.s.Seed, Generation: generation}
}

// id hashes the decision's clock, the plan and the disruptions.
func (d *decider) id() (string, error) {
	sum := sha256.New()
	enc := json.NewEncoder(sum)
	parts := []any{d.s.Time.UTC(), d.s.Seed, d.out.Plan, d.out.Disruptions}
	if len(d.out.Commands) > 0 {
		parts = append(parts, d.out.Commands)
	}
	for _, part := range parts {
		if err := enc.Encode(part); err != nil {
			return "", fmt.Errorf("hash decision: %w", err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}
