package policy

import (
	"context"
	"math"
)

// maxHold is the longest hold, in seconds (366 days). A longer hold is shortened to
// it. The node is considered again long before it ends.
const maxHold = 366 * 24 * 3600

// ConsolidateOutcome is the combined answer for one candidate.
type ConsolidateOutcome struct {
	Verdict Verdict
	// HoldSeconds is the longest hold asked for.
	HoldSeconds float64
	// Cost sums the disruption costs of all policies.
	Cost float64
	// Policy and Reason are those of the first refusal or longest hold.
	Policy string
	Reason string
}

// Consolidate asks every policy about the candidates it matches. A candidate is
// allowed only if all of them allow it. matches reports whether a policy applies to
// the candidate at an index.
func (p *Panel) Consolidate(ctx context.Context, in *ConsolidateInput, matches func(*Match, int) bool) []ConsolidateOutcome {
	out := make([]ConsolidateOutcome, len(in.Candidates))
	for i := range out {
		out[i] = ConsolidateOutcome{Verdict: Allow, Cost: in.Candidates[i].Cost}
	}
	for _, each := range p.policies {
		info := each.Info()
		if !info.Answers(HookConsolidate) {
			continue
		}
		batch := ConsolidateInput{Call: in.Call}
		var index []int
		for i := range in.Candidates {
			if matches(&info.Match, i) {
				c := in.Candidates[i]
				c.Cost = out[i].Cost
				batch.Candidates = append(batch.Candidates, c)
				index = append(index, i)
			}
		}
		if len(index) > 0 {
			p.consolidateOne(ctx, each, &batch, index, out)
		}
	}
	return out
}

func (p *Panel) consolidateOne(ctx context.Context, each Policy, batch *ConsolidateInput, index []int, out []ConsolidateOutcome) {
	info := each.Info()
	var answers []ConsolidateAnswer
	ok, refused := p.ask(ctx, &info, HookConsolidate, func(ctx context.Context) error {
		var err error
		answers, err = each.Consolidate(ctx, batch)
		if err == nil {
			err = checkConsolidate(answers, len(index))
		}
		return err
	})
	u := p.use(&info, HookConsolidate)
	for k, i := range index {
		switch {
		case refused:
			out[i].refuse(Deny, 0, p.name(&info), u.Fault)
		case ok:
			u.judge(p.name(&info), &batch.Candidates[k], answers[k], &out[i])
		}
	}
}

// judge records one answer and applies it unless the policy is in Shadow mode.
func (u *Use) judge(name string, about *Candidate, a ConsolidateAnswer, out *ConsolidateOutcome) {
	a.HoldSeconds = min(a.HoldSeconds, maxHold)
	keeps := a.Verdict == Deny || a.Verdict == Hold && a.HoldSeconds > 0
	if keeps {
		u.Denied++
	}
	if u.Mode == Shadow {
		if keeps && out.Verdict == Allow {
			u.Disagreed++
			u.differ(func() Difference { return keepsNode(about, &a) })
		}
		return
	}
	out.Cost += a.Cost
	if keeps {
		out.refuse(a.Verdict, a.HoldSeconds, name, a.Reason)
	}
}

// refuse keeps the strictest verdict: a denial over any hold, a longer hold over a
// shorter one.
func (o *ConsolidateOutcome) refuse(v Verdict, hold float64, name, reason string) {
	if o.Verdict == Deny || o.Verdict == Hold && v == Hold && hold <= o.HoldSeconds {
		return
	}
	o.Verdict, o.HoldSeconds, o.Policy, o.Reason = v, hold, name, reason
}

func checkConsolidate(answers []ConsolidateAnswer, n int) error {
	if len(answers) != n {
		return &Fault{Kind: FaultBadReply, Message: "the number of answers differs from the number of candidates"}
	}
	for _, a := range answers {
		for _, v := range []float64{a.Cost, a.HoldSeconds} {
			if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
				return &Fault{Kind: FaultBadReply, Message: "a cost or hold is not a finite number of at least 0"}
			}
		}
		switch a.Verdict {
		case Allow, Deny, Hold:
		default:
			return &Fault{Kind: FaultBadReply, Message: "unknown verdict " + string(a.Verdict)}
		}
	}
	return nil
}
