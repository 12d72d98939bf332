package cases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// Runner asks policies the questions of cases.
type Runner struct {
	// Compile returns the policy with a configuration; nil means its own.
	Compile func(ctx context.Context, config json.RawMessage) (policy.Compiled, error)
	// Decide makes the decision of a scenario, with p among the policies in force.
	Decide func(ctx context.Context, s *Scenario, p policy.Policy) (*Plan, error)

	compiled map[string]policy.Compiled
}

// Failure is an expectation that was not met.
type Failure struct {
	File string
	Line int
	Text string
}

// String returns file:line: text.
func (f Failure) String() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text) }

// Run asks the question of a case and returns every expectation that was not met.
func (r *Runner) Run(ctx context.Context, c *Case) []Failure {
	p, err := r.policy(ctx, c.Config)
	if err != nil {
		return []Failure{c.fail("the policy does not load with this config: "+err.Error(), "config")}
	}
	a := &answered{Policy: p, hook: c.Hook}
	v := &verifier{c: c}
	switch {
	case c.Scenario != nil:
		r.scenario(ctx, c, p, v)
		return v.failures
	case !c.answeredBy(p):
		return []Failure{c.fail(fmt.Sprintf("the policy does not answer the hook %s: see hooks in policy.yaml", c.Hook), "hook")}
	case c.rank != nil:
		v.rank(ctx, a, c.rank)
	case c.consolidate != nil:
		v.consolidate(ctx, a, c.consolidate)
	case c.ceiling != nil:
		v.ceiling(ctx, a, c.ceiling)
	}
	if a.fault != nil {
		r.drop(ctx, c.Config) // its breaker has counted the fault
	}
	return v.failures
}

// Close closes the compiled policies.
func (r *Runner) Close(ctx context.Context) error {
	var errs []error
	for _, p := range r.compiled {
		errs = append(errs, p.Close(ctx))
	}
	r.compiled = nil
	return errors.Join(errs...)
}

func (c *Case) answeredBy(p policy.Policy) bool {
	info := p.Info()
	return info.Answers(c.Hook)
}

func (c *Case) fail(text string, path ...any) Failure {
	return Failure{File: c.File, Line: c.at.in(path...).line(), Text: text}
}

func (r *Runner) policy(ctx context.Context, config json.RawMessage) (policy.Compiled, error) {
	if p := r.compiled[string(config)]; p != nil {
		return p, nil
	}
	p, err := r.Compile(ctx, config)
	if err != nil {
		return nil, err
	}
	if r.compiled == nil {
		r.compiled = map[string]policy.Compiled{}
	}
	r.compiled[string(config)] = p
	return p, nil
}

func (r *Runner) drop(ctx context.Context, config json.RawMessage) {
	_ = r.compiled[string(config)].Close(ctx) // an error changes nothing: the policy is dropped either way
	delete(r.compiled, string(config))
}

// answered is the policy under test, enforced for every NodePool. It records the
// answers.
type answered struct {
	policy.Policy
	hook        policy.Hook
	rank        [][]policy.RankAnswer
	consolidate []policy.ConsolidateAnswer
	ceiling     []policy.CeilingAnswer
	fault       error
	silent      bool
}

// Info implements policy.Policy.
func (a *answered) Info() policy.Info {
	info := a.Policy.Info()
	info.Mode, info.Match = policy.Enforce, policy.Match{}
	return info
}

func (a *answered) note(err error) {
	switch {
	case err == nil:
	case errors.Is(err, policy.ErrNoOpinion):
		a.silent = true
	default:
		a.fault = err
	}
}

// Rank implements policy.Policy.
func (a *answered) Rank(ctx context.Context, in *policy.RankInput) ([]policy.RankAnswer, error) {
	out, err := a.Policy.Rank(ctx, in)
	a.note(err)
	a.rank = append(a.rank, out)
	return out, err
}

// Consolidate implements policy.Policy.
func (a *answered) Consolidate(ctx context.Context, in *policy.ConsolidateInput) ([]policy.ConsolidateAnswer, error) {
	out, err := a.Policy.Consolidate(ctx, in)
	a.note(err)
	a.consolidate = out
	return out, err
}

// Ceiling implements policy.Policy.
func (a *answered) Ceiling(ctx context.Context, in *policy.CeilingInput) (policy.CeilingAnswer, error) {
	out, err := a.Policy.Ceiling(ctx, in)
	a.note(err)
	a.ceiling = append(a.ceiling, out)
	return out, err
}

// sofar is a policy that sets the costs so far of a case, one tier per policy.
type sofar struct {
	policy.Policy
	answers []policy.RankAnswer
}

// Info implements policy.Policy.
func (s sofar) Info() policy.Info {
	return policy.Info{Name: "cost so far", Hooks: []policy.Hook{policy.HookRank}, Mode: policy.Enforce}
}

// Rank implements policy.Policy.
func (s sofar) Rank(context.Context, *policy.RankInput) ([]policy.RankAnswer, error) {
	return s.answers, nil
}

// before returns the policies that come before the one under test. The first one
// sets the last tier's costs, and each further one the costs of the tier before it,
// for that tier's number of nodes.
func (q *rankQuestion) before() []policy.Policy {
	depth := 0
	for _, t := range q.tiers {
		depth = max(depth, len(t))
	}
	var out []policy.Policy
	for d := 1; d <= depth; d++ {
		answers := make([]policy.RankAnswer, len(q.tiers))
		for i, t := range q.tiers {
			tier := t[max(0, len(t)-d)]
			answers[i] = policy.RankAnswer{Score: tier.Cost, MaxNodes: tier.Until}
		}
		out = append(out, sofar{answers: answers})
	}
	return out
}

func (v *verifier) rank(ctx context.Context, a *answered, q *rankQuestion) {
	in := q.in
	in.Rows = append([]policy.RankRow(nil), q.in.Rows...)
	panel := policy.NewPanel(append(q.before(), a), nil)
	out := panel.Rank(ctx, &model.Pool{Name: in.Pool.Name, Labels: in.Pool.Labels}, &in)
	v.checkRank(a, q, &out, faultOf(panel))
}

func (v *verifier) consolidate(ctx context.Context, a *answered, q *consolidateQuestion) {
	in := q.in
	panel := policy.NewPanel([]policy.Policy{a}, nil)
	panel.Consolidate(ctx, &in, func(*policy.Match, int) bool { return true })
	v.checkConsolidate(a, q, faultOf(panel))
}

func (v *verifier) ceiling(ctx context.Context, a *answered, q *ceilingQuestion) {
	caps, review := q.in, q.in
	caps.Launches = nil
	panel := policy.NewPanel([]policy.Policy{a}, nil)
	panel.Ceiling(ctx, &caps, nil)
	var out policy.CeilingOutcome
	if len(review.Launches) > 0 && a.fault == nil {
		out = panel.Ceiling(ctx, &review, nil)
	}
	v.checkCeiling(a, q, &out, faultOf(panel))
}

// faultOf returns the text of the last fault, "" for none.
func faultOf(p *policy.Panel) string {
	for _, u := range p.Uses() {
		if u.Fault != "" {
			return u.Fault
		}
	}
	return ""
}

func (r *Runner) scenario(ctx context.Context, c *Case, p policy.Compiled, v *verifier) {
	plan, err := r.Decide(ctx, c.Scenario, p)
	if err != nil {
		v.failures = append(v.failures, c.fail(err.Error(), "scenario"))
		return
	}
	fault := strings.Join(plan.Faults, "; ")
	if fault != "" {
		r.drop(ctx, c.Config)
	}
	v.checkPlan(plan, fault)
}
