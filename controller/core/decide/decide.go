// Package decide computes one decision: it asks the rank and ceiling policies,
// solves the placement of pending pods, reviews the launches, and selects the nodes
// that may be disrupted. The controller and the command line both call it; no other
// package of the core combines these steps.
//
// Decide is a function of the snapshot and the policies. It reads no clock: the
// snapshot carries the time, and Options.Elapsed may supply a stopwatch for the
// timings. Its only I/O is to ask the policies.
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

// Options tune a decision. The zero value plans launches for the pending pods with
// the default effort and disrupts nothing.
type Options struct {
	// Missing names the required policies that are not active. While any is missing,
	// nothing is launched.
	Missing []string
	// Suspended are the policies that are not asked because an administrator has suspended
	// them. They are recorded, and decide nothing.
	Suspended []policy.Suspension
	// LastCaps are each ceiling policy's caps from the decision before, by
	// namespace/name. They replace the answer of a policy that fails.
	LastCaps map[string]map[string]policy.Cap
	// Greedy makes the solver skip its improvement phase.
	Greedy bool
	// Bound also computes Stats.Bound, which takes longer than the plan itself.
	Bound bool
	// Disrupt also selects nodes to disrupt and continues the commands under way.
	Disrupt bool
	// Search also looks for replacements of drifted nodes and of nodes that cost
	// more than their replacements would. It is the slowest part of a decision.
	Search bool
	// SearchEffort bounds the search; the zero value means disrupt.DefaultEffort.
	SearchEffort disrupt.Effort
	// Explain also reports the nodes that wait or for which the search found
	// nothing.
	Explain bool
	// Elapsed is a stopwatch for the timings; with nil all timings are zero.
	Elapsed func() time.Duration

	// solve, when set, takes the place of the solver: for tests of what follows when
	// it errs.
	solve func(solver.Input) (model.Plan, solver.Stats)
}

// Decision is the result of Decide, with the data needed to explain it.
//
// Size: one field for each thing that is decided, and for each that explains it.
type Decision struct {
	// ID is a hash of the snapshot's time and seed, the plan, the disruptions and
	// the commands. Equal decisions have equal IDs.
	ID   string     `json:"id"`
	Time time.Time  `json:"time"`
	Plan model.Plan `json:"plan"`
	// Disruptions are the verdicts on the nodes that were considered one by one.
	Disruptions []Disruption `json:"disruptions,omitempty"`
	// Commands disrupt several nodes at once, or launch replacements first.
	Commands []Command `json:"commands,omitempty"`
	// Eligible counts by method the nodes that only policies and budgets can still
	// keep.
	Eligible map[Method]int `json:"-"`
	// PoolsWithoutOfferings indexes Snapshot.Pools. It lists the pools whose requirements no
	// offering of their catalogue meets.
	PoolsWithoutOfferings []int32 `json:"-"`
	// Headroom is what was left under each cap before the plan.
	Headroom []CapStatus `json:"headroom,omitempty"`
	// Failures are the defects of this program that were met; the rest of the decision
	// can be applied.
	Failures []Failure `json:"failures,omitempty"`
	// Warnings are messages for people: soft caps reached, caps on unknown scopes.
	Warnings []string     `json:"warnings,omitempty"`
	Policies []policy.Use `json:"policies"`
	// Suspended are the policies that were not asked because they are suspended.
	Suspended []policy.Suspension `json:"suspended,omitempty"`
	// Caps are the ceiling policies' caps, for Options.LastCaps.
	Caps  map[string]map[string]policy.Cap `json:"-"`
	Stats solver.Stats                     `json:"-"`
	// Ranked holds the rows shown to the rank policies and their answers, by pool.
	Ranked []Ranked `json:"-"`
	Timing Timing   `json:"-"`
	// Postponed is set when the requested search was skipped because the plan
	// launches nodes, which comes first.
	Postponed bool `json:"-"`
	// Disrupted is set when the decision is about disruptions as well. Without it the
	// nodes' taints and the commands under way stay as they are.
	Disrupted bool `json:"-"`
}

// Ranked is the rank policies' answer for one pool, with one row per offering.
type Ranked struct {
	// Pool indexes Snapshot.Pools.
	Pool    int32
	Rows    []policy.RankRow
	Outcome policy.RankOutcome
}

// Timing is the time spent in each step; Total covers the whole decision.
type Timing struct {
	Rank, Solve, Review, Disrupt, Total time.Duration
}

// CapStatus is one cap and what is left under it.
type CapStatus struct {
	Scope  string      `json:"scope"`
	Policy string      `json:"policy"`
	Cap    string      `json:"cap"`
	Left   model.Price `json:"left"`
	// Period says whether the cap limits the hourly rate or the month's total. Limit
	// is the cap in USD per that period.
	Period Period  `json:"period"`
	Limit  float64 `json:"limitUSD"`
	// Soft caps warn and do not limit launches.
	Soft bool `json:"soft,omitempty"`
	// Burn is the hourly price of the scope's running and launching nodes.
	Burn model.Price `json:"burn"`
	// SecondsToCap is when a monthly cap is used up at the rate of Burn, in seconds
	// from now; -1 means never, or an hourly cap.
	SecondsToCap int64 `json:"secondsToCap"`
	// Short is set when pods stay pending because of the cap. Consolidation within
	// the scope then runs first and without delay.
	Short bool `json:"short,omitempty"`
}

// Short returns the scopes whose caps keep pods pending.
func (d *Decision) Short() []string {
	var out []string
	for i := range d.Headroom {
		if d.Headroom[i].Short {
			out = append(out, d.Headroom[i].Scope)
		}
	}
	return out
}

// Period is the period that a cap limits.
type Period string

// The periods.
const (
	PerHour  Period = "hour"
	PerMonth Period = "month"
)

// decider is the state that the steps of one decision share. Each step is a type of its
// own: rankStep, ceilingStep, announcedStep, reviewStep and namespaceStep for launches;
// disrupter, commandStep and searchStep for disruptions.
type decider struct {
	s             *model.Snapshot
	policies      []policy.Policy
	panel         *policy.Panel
	opts          Options
	pending       []int32
	namespaceCaps []namespaceCap
	scopes        []spend.Scope
	presence      *spend.Presence
	out           Decision
	// groups numbers the policy groups whose offerings share one quantity.
	groups map[policy.GroupKey]int32
	usage  *usage
	// short marks by pool where consolidation frees money that pods wait for; nil
	// when no cap keeps a pod pending.
	short []bool
	// in is the solver's input; nil until input has built it.
	in *solver.Input
	// part is what is being decided.
	part Part
}

// Decide plans what to launch, where each pending pod goes, and which nodes may be
// disrupted. An error is a defect in this program: a decision of which not even the
// part without pods can be proven, or that cannot be hashed. Pods without a place and
// failing policies are not errors; the Decision reports them.
func Decide(ctx context.Context, s *model.Snapshot, policies []policy.Policy, opts Options) (Decision, error) {
	d := newDecider(s, policies, opts)
	err := d.run(ctx)
	return d.out, err
}

func newDecider(s *model.Snapshot, policies []policy.Policy, opts Options) *decider {
	if opts.Elapsed == nil {
		opts.Elapsed = func() time.Duration { return 0 }
	}
	if opts.solve == nil {
		opts.solve = solver.Solve
	}
	d := &decider{s: s, policies: policies, panel: policy.NewPanel(policies, opts.Elapsed), opts: opts, part: Provisioning}
	d.out.Time, d.out.Suspended = s.Time, opts.Suspended
	for i := range s.Pods {
		if p := &s.Pods[i]; s.NeedsPlace(p) && p.Held == nil {
			d.pending = append(d.pending, int32(i))
		}
	}
	return d
}

// run makes the decision.
func (d *decider) run(ctx context.Context) error {
	start := d.opts.Elapsed()
	if len(d.pending) > 0 {
		if err := d.provision(ctx); err != nil {
			return err
		}
		d.short = d.shortage()
	}
	if d.opts.Disrupt {
		d.part = Disrupting
		from := d.opts.Elapsed()
		d.disrupt(ctx)
		d.out.Disrupted = true
		d.out.Timing.Disrupt = d.opts.Elapsed() - from
	}
	d.part = Provisioning
	if d.opts.Disrupt && d.out.Caps == nil {
		// Nothing had to be launched. The caps are computed all the same, since
		// Headroom and Caps are reported for every decision.
		(&ceilingStep{d}).ceilings(ctx, &solver.Input{Blocked: make([]*model.Reason, len(d.s.Pools))})
	}
	for i := range d.s.Pods {
		if p := &d.s.Pods[i]; p.Held != nil && d.s.NeedsPlace(p) {
			d.unplace([]int32{int32(i)}, *p.Held)
		}
	}
	d.out.PoolsWithoutOfferings = d.poolsWithoutOfferings()
	d.out.Policies = d.panel.Uses()
	id, err := d.id()
	if err != nil {
		return err
	}
	d.out.ID = id
	d.out.Timing.Total = d.opts.Elapsed() - start
	return nil
}

// provision solves and reviews the plan for the pending pods and checks it.
func (d *decider) provision(ctx context.Context) error {
	in := d.input(ctx)
	start := d.opts.Elapsed()
	wide := *in
	if !d.capped() { // what a cap leaves is better spent on nodes than on options
		wide.SpotTolerance = solver.DefaultSpotTolerance
	}
	d.out.Plan, d.out.Stats = d.opts.solve(wide)
	(&announcedStep{d}).retry(in, &wide)
	d.out.Timing.Solve = d.opts.Elapsed() - start
	if d.opts.Bound {
		d.out.Stats.Bound = solver.LowerBound(*in, &d.out.Plan)
	}
	start = d.opts.Elapsed()
	(&reviewStep{d}).review(ctx, in)
	(&namespaceStep{d}).apply(ctx, in)
	d.out.Timing.Review = d.opts.Elapsed() - start
	if wrong := d.violations(in, &d.out.Plan, d.pending); len(wrong) > 0 {
		return (&salvage{decider: d, in: in, whole: d.out.Plan, left: maxProofs}).keepProven(wrong)
	}
	return nil
}

// input builds the solver's input, with the policies' costs and caps. It asks the
// policies once per decision; later calls return the same input.
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
	(&rankStep{d}).rank(ctx, d.in)
	d.out.Timing.Rank = d.opts.Elapsed() - start
	(&ceilingStep{d}).ceilings(ctx, d.in)
	return d.in
}

// violations checks a plan with package check, which shares no code with the solver.
func (d *decider) violations(in *solver.Input, plan *model.Plan, pods []int32) []check.Violation {
	c := check.Constraints{Pods: pods, Headroom: in.Headroom, Denied: in.Denied, Excluded: d.excluded(in)}
	return check.Plan(in.Snapshot, plan, c)
}

// excluded returns a function that reports whether the rank policies excluded an
// option of a pool.
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

// id hashes the snapshot's time and seed, the plan, the disruptions and the
// commands.
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
