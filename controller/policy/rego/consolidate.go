package rego

import (
	"context"

	"github.com/open-policy-agent/opa/v1/ast"

	"spokeshave.dev/controller/core/policy"
)

// consolidateHook is the prepared consolidate hook.
type consolidateHook struct {
	plan   plan
	fields []field[policy.Candidate]
}

func (p *Policy) prepareConsolidate(ctx context.Context) error {
	c := &p.consolidate
	c.fields = pick(candidateFields(), used(p.compiler.Modules, "candidate"))
	return p.makePlan(ctx, &c.plan, policy.HookConsolidate, inputs{
		{"candidate", newRecord(c.fields)},
	})
}

// Consolidate implements policy.Policy.
func (p *Policy) Consolidate(ctx context.Context, in *policy.ConsolidateInput) ([]policy.ConsolidateAnswer, error) {
	answers := make([]policy.ConsolidateAnswer, len(in.Candidates))
	err := p.ask(ctx, policy.HookConsolidate, in.Call, func(ctx context.Context, s *session) error {
		candidate := newRecord(p.consolidate.fields)
		f := p.consolidate.plan.newFrame(ctx, s, candidate)
		for i := range in.Candidates {
			if err := candidate.set(&in.Candidates[i]); err != nil {
				return err
			}
			if err := p.consolidate.answerOne(ctx, s, f, &answers[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return answers, nil
}

func (c *consolidateHook) answerOne(ctx context.Context, s *session, f *frame, answer *policy.ConsolidateAnswer) error {
	answer.Verdict = policy.Allow
	var denied []string
	var holds []entry
	err := c.plan.decide(ctx, s, f, func(rule string, value ast.Value) error {
		var err error
		switch rule {
		case ruleDeny:
			denied, err = reasons(rule, value)
		case ruleHold:
			holds, err = entries(rule, value, 0)
		case ruleCost:
			var costs []entry
			costs, err = entries(rule, value, 0)
			for _, c := range costs {
				answer.Cost += c.value
			}
		}
		return err
	})
	combineAnswers(answer, denied, holds)
	return err
}

// combineAnswers derives one verdict from the refusals and holds: a refusal takes precedence
// over any hold, and the longest hold counts.
func combineAnswers(answer *policy.ConsolidateAnswer, denied []string, holds []entry) {
	var longest []string
	for _, h := range holds {
		if h.value > answer.HoldSeconds {
			answer.HoldSeconds = h.value
			longest = longest[:0]
		}
		if h.value == answer.HoldSeconds && h.value > 0 {
			longest = append(longest, h.reason)
		}
	}
	switch {
	case len(denied) > 0:
		answer.Verdict, answer.HoldSeconds, answer.Reason = policy.Deny, 0, joinReasons(denied)
	case len(longest) > 0:
		answer.Verdict, answer.Reason = policy.Hold, joinReasons(longest)
	}
}
