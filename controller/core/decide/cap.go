package decide

import (
	"fmt"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/core/solver"
	"spokeshave.dev/controller/core/spend"
)

// bound adds the scope's hard caps to the solver's input and its soft caps to the
// reported headroom.
func (d *ceilingStep) bound(in *solver.Input, scope *spend.Scope, out *policy.CeilingOutcome) {
	if c, ok := out.Hourly[scope.Name]; ok {
		d.add(in, scope, d.hourly(scope, &c))
	}
	if c, ok := out.Monthly[scope.Name]; ok {
		d.add(in, scope, d.monthly(scope, &c))
	}
	if c, ok := out.SoftHourly[scope.Name]; ok {
		d.soft(d.hourly(scope, &c), "is reached")
	}
	if c, ok := out.SoftMonthly[scope.Name]; ok {
		d.soft(d.monthly(scope, &c), "will be reached this month")
	}
}

func (d *ceilingStep) hourly(scope *spend.Scope, c *policy.ScopeCap) CapStatus {
	return CapStatus{
		Scope: scope.Name, Policy: c.Policy, Cap: fmt.Sprintf("%.2f $/h", *c.HourlyUSD), Left: scope.HourlyHeadroom(model.PriceOf(*c.HourlyUSD)),
		Period: PerHour, Limit: *c.HourlyUSD, Burn: scope.Running + scope.InFlight, SecondsToCap: -1,
	}
}

func (d *ceilingStep) monthly(scope *spend.Scope, c *policy.ScopeCap) CapStatus {
	micro := int64(model.PriceOf(*c.MonthlyUSD))
	out := CapStatus{
		Scope: scope.Name, Policy: c.Policy, Cap: fmt.Sprintf("%.2f $/month", *c.MonthlyUSD), Left: scope.MonthlyHeadroom(micro, d.s.Time),
		Period: PerMonth, Limit: *c.MonthlyUSD, Burn: scope.Running + scope.InFlight, SecondsToCap: scope.SecondsToCap(micro),
	}
	if d.s.SpentDoubt != "" && !c.Soft {
		out.Left = 0
		out.Cap += " (" + d.s.SpentDoubt + ")"
	}
	return out
}

// soft reports a soft cap and adds a warning when nothing is left under it. A soft
// cap does not limit the plan.
func (d *ceilingStep) soft(h CapStatus, reached string) {
	h.Soft = true
	d.out.Headroom = append(d.out.Headroom, h)
	if h.Left == 0 {
		d.warn("soft cap of policy %s on %s %s: %s", h.Policy, h.Scope, reached, h.Cap)
	}
}

func (d *ceilingStep) add(in *solver.Input, scope *spend.Scope, h CapStatus) {
	d.out.Headroom = append(d.out.Headroom, h)
	if scope.Pools == nil {
		d.namespaceCaps = append(d.namespaceCaps, namespaceCap{namespace: strings.TrimPrefix(scope.Name, spend.Namespace), policy: h.Policy, bound: h.Cap, left: h.Left})
		return
	}
	in.Headroom = append(in.Headroom, model.Headroom{Scope: scope.Name, Pools: scope.Pools, Left: h.Left, Policy: h.Policy})
}
