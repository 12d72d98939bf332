package decide

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/core/solver"
	"spokeshave.dev/controller/core/spend"
)

// ceilingStep asks the ceiling policies for caps and turns them into headroom.
type ceilingStep struct{ *decider }

// ceilings asks the ceiling policies for caps and adds them to the solver's input as
// headroom. It blocks every pool when a required policy is missing, or when a policy
// gives no answer and no earlier caps of it are known.
func (d *ceilingStep) ceilings(ctx context.Context, in *solver.Input) {
	for _, name := range d.opts.Missing {
		d.blockAll(in, name, "required policy "+name+" is not active; apply it, or take it off policies.required")
	}
	if !d.capped() {
		d.out.Caps = map[string]map[string]policy.Cap{} // the caps of the decision before no longer apply
		return
	}
	question := policy.CeilingInput{Call: d.call(0), Scopes: d.scopeSpend(d.accounts())}
	out := d.panel.Ceiling(ctx, &question, d.opts.LastCaps)
	d.out.Caps = out.Known
	if out.Refused != nil {
		d.blockAll(in, out.Refused.Policy, "ceiling policy "+out.Refused.Policy+" gives no answer and no caps are known from before: "+out.Refused.Reason)
	}
	names := slices.Concat(slices.Collect(maps.Keys(out.Hourly)), slices.Collect(maps.Keys(out.Monthly)), slices.Collect(maps.Keys(out.SoftHourly)), slices.Collect(maps.Keys(out.SoftMonthly)))
	scopes := d.accounts()
	if slices.ContainsFunc(names, func(n string) bool {
		return !slices.ContainsFunc(scopes, func(s spend.Scope) bool { return s.Name == n })
	}) {
		scopes = spend.Scopes(d.s, names...)
	}
	for _, scope := range scopes {
		d.bound(in, &scope, &out)
	}
	d.blockDoubtful(in, scopes, &out)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if !spend.Known(name) {
			d.warn("scope %s is capped, but is no scope: "+spend.ScopeForms+"; the cap is not enforced", name)
		}
	}
}

// accounts returns the spend of every scope. The first call computes it, which reads
// every pod.
func (d *decider) accounts() []spend.Scope {
	if d.scopes == nil {
		d.scopes = spend.Scopes(d.s)
	}
	return d.scopes
}

// capped reports whether any policy answers the ceiling hook.
func (d *decider) capped() bool {
	return slices.ContainsFunc(d.policies, func(p policy.Policy) bool {
		info := p.Info()
		return info.Answers(policy.HookCeiling)
	})
}

// blockDoubtful blocks the pools of every scope with a hard monthly cap while it is not
// certain what the month has cost. The cap of a namespace leaves nothing then: see
// monthly.
func (d *ceilingStep) blockDoubtful(in *solver.Input, scopes []spend.Scope, out *policy.CeilingOutcome) {
	if d.s.SpentDoubt == "" {
		return
	}
	for i := range scopes {
		c, capped := out.Monthly[scopes[i].Name]
		if !capped {
			continue
		}
		why := fmt.Sprintf("cap %.2f $/month of policy %s on %s: %s", *c.MonthlyUSD, c.Policy, scopes[i].Name, d.s.SpentDoubt)
		d.warn("%s", why)
		for p := range in.Blocked {
			if in.Blocked[p] == nil && len(scopes[i].Pools) > p && scopes[i].Pools[p] {
				in.Blocked[p] = &model.Reason{Code: model.PolicyUnavailable, Pool: d.s.Pools[p].Name, Policy: c.Policy, Message: why}
			}
		}
	}
}

func (d *ceilingStep) blockAll(in *solver.Input, name, why string) {
	for i := range in.Blocked {
		if in.Blocked[i] == nil {
			in.Blocked[i] = &model.Reason{Code: model.PolicyUnavailable, Pool: d.s.Pools[i].Name, Policy: name, Message: why}
		}
	}
}

func (d *ceilingStep) scopeSpend(scopes []spend.Scope) []policy.ScopeSpend {
	out := make([]policy.ScopeSpend, 0, len(scopes))
	for i := range scopes {
		out = append(out, policy.ScopeSpend{
			Scope: scopes[i].Name, RunningUSD: scopes[i].Running.USD(), InFlightUSD: scopes[i].InFlight.USD(),
			MonthToDateUSD: float64(scopes[i].MonthToDate) / 1e6, Nodes: scopes[i].Nodes,
		})
	}
	return out
}

func (d *decider) warn(format string, args ...any) {
	d.out.Warnings = append(d.out.Warnings, fmt.Sprintf(format, args...))
}
