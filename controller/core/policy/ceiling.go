package policy

import (
	"context"
	"maps"
	"math"
	"slices"
)

// ScopeCap is the cap in force for a scope and the policy it comes from.
type ScopeCap struct {
	Cap
	Policy string
}

// CeilingOutcome is the combined answer of the ceiling policies: the lowest cap per
// scope and bound, and every refusal.
type CeilingOutcome struct {
	// Hourly and Monthly are the lowest hard caps per scope, in USD. SoftHourly and
	// SoftMonthly are the lowest soft caps, which only warn.
	Hourly, Monthly, SoftHourly, SoftMonthly map[string]ScopeCap
	// Denied maps the index of a launch to its first refusal.
	Denied map[int]Exclusion
	// Refused names a fail-closed policy that gave no answer and cannot be replaced
	// by earlier caps. When it is set, nothing may be launched.
	Refused *Exclusion
	// Known holds each policy's caps by policy name. They replace the answer of the
	// policy if it fails later.
	Known map[string]map[string]Cap
}

// Ceiling asks every ceiling policy: for caps when in has no launches, else for a
// review of the launches. last holds the earlier caps by policy name.
func (p *Panel) Ceiling(ctx context.Context, in *CeilingInput, last map[string]map[string]Cap) CeilingOutcome {
	out := CeilingOutcome{
		Hourly: map[string]ScopeCap{}, Monthly: map[string]ScopeCap{},
		SoftHourly: map[string]ScopeCap{}, SoftMonthly: map[string]ScopeCap{},
		Denied: map[int]Exclusion{}, Known: map[string]map[string]Cap{},
	}
	for _, each := range p.policies {
		info := each.Info()
		if !info.Answers(HookCeiling) {
			continue
		}
		var answer CeilingAnswer
		ok, refused := p.ask(ctx, &info, HookCeiling, func(ctx context.Context) error {
			var err error
			answer, err = each.Ceiling(ctx, in)
			if err == nil {
				err = checkCeiling(answer, len(in.Launches))
			}
			return err
		})
		if refused {
			caps, known := last[info.Namespace+"/"+info.Name]
			// The last known caps replace a failed answer about caps. Nothing
			// replaces a failed review: if a policy that may refuse launches cannot
			// be asked, none may be launched.
			guards := info.Guards || len(caps) == 0
			if !known || guards && len(in.Launches) > 0 {
				out.Refused = &Exclusion{Policy: p.name(&info), Reason: p.use(&info, HookCeiling).Fault}
				continue
			}
			answer, ok = CeilingAnswer{Caps: caps}, true
		}
		if !ok {
			continue
		}
		out.Known[info.Namespace+"/"+info.Name] = answer.Caps
		u := p.use(&info, HookCeiling)
		u.Denied += len(answer.Deny)
		if info.Mode != Shadow {
			out.add(p.name(&info), answer)
		} else {
			u.Disagreed += out.would(u, in, answer)
		}
	}
	return out
}

// would counts the launches that an answer refuses and no earlier answer refused. It
// keeps examples of what the answer would have changed.
func (o *CeilingOutcome) would(u *Use, in *CeilingInput, answer CeilingAnswer) int {
	n := 0
	for _, i := range slices.Sorted(maps.Keys(answer.Deny)) {
		if _, denied := o.Denied[i]; !denied {
			n++
			u.differ(func() Difference { return refusedLaunch(&in.Launches[i], answer.Deny[i]) })
		}
	}
	if len(in.Launches) == 0 {
		u.wouldCap(o, answer.Caps)
	}
	return n
}

func (o *CeilingOutcome) add(name string, answer CeilingAnswer) {
	for _, scope := range slices.Sorted(maps.Keys(answer.Caps)) {
		c := answer.Caps[scope]
		hourly, monthly := o.Hourly, o.Monthly
		if c.Soft {
			hourly, monthly = o.SoftHourly, o.SoftMonthly
		}
		least(hourly, scope, ScopeCap{c, name}, c.HourlyUSD, Cap.hourly)
		least(monthly, scope, ScopeCap{c, name}, c.MonthlyUSD, Cap.monthly)
		beside := Cap{HourlyUSD: c.SoftHourlyUSD, MonthlyUSD: c.SoftMonthlyUSD, Soft: true}
		least(o.SoftHourly, scope, ScopeCap{beside, name}, beside.HourlyUSD, Cap.hourly)
		least(o.SoftMonthly, scope, ScopeCap{beside, name}, beside.MonthlyUSD, Cap.monthly)
	}
	for i, reasons := range answer.Deny {
		if _, denied := o.Denied[i]; !denied {
			reason := "denied"
			if len(reasons) > 0 {
				reason = reasons[0]
			}
			o.Denied[i] = Exclusion{Policy: name, Reason: reason}
		}
	}
}

func (c Cap) hourly() *float64  { return c.HourlyUSD }
func (c Cap) monthly() *float64 { return c.MonthlyUSD }

func least(caps map[string]ScopeCap, scope string, c ScopeCap, bound *float64, of func(Cap) *float64) {
	if bound == nil {
		return
	}
	if old, ok := caps[scope]; !ok || *bound < *of(old.Cap) {
		caps[scope] = c
	}
}

func checkCeiling(a CeilingAnswer, launches int) error {
	for scope, c := range a.Caps {
		for _, bound := range []*float64{c.HourlyUSD, c.MonthlyUSD, c.SoftHourlyUSD, c.SoftMonthlyUSD} {
			if bound != nil && (math.IsNaN(*bound) || *bound < 0) {
				return &Fault{Kind: FaultBadReply, Message: "the cap of " + scope + " is not a number of at least 0"}
			}
		}
	}
	for i := range a.Deny {
		if i < 0 || i >= launches {
			return &Fault{Kind: FaultBadReply, Message: "a launch is denied that was not asked about"}
		}
	}
	return nil
}
