package rego

import (
	"context"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"spokeshave.dev/controller/core/policy"
)

// ceilingHook is the prepared ceiling hook. Caps are evaluated once per call, without a
// launch, and refusals once per launch.
type ceilingHook struct {
	caps, deny plan
	launch     []field[policy.Launch]
	spend      []field[policy.ScopeSpend]
}

func (p *Policy) prepareCeiling(ctx context.Context) error {
	c := &p.ceiling
	c.launch = pick(launchFields(), used(p.compiler.Modules, "launch"))
	c.spend = spendFields()
	in := inputs{{"launch", &literal{}}, {"spend", &literal{}}, {"time", &literal{}}}
	if err := p.makePlan(ctx, &c.caps, policy.HookCeiling, in, ruleCap); err != nil {
		return err
	}
	in[0].doc = newRecord(c.launch)
	return p.makePlan(ctx, &c.deny, policy.HookCeiling, in, ruleDeny)
}

// Ceiling implements policy.Policy.
func (p *Policy) Ceiling(ctx context.Context, in *policy.CeilingInput) (policy.CeilingAnswer, error) {
	var answer policy.CeilingAnswer
	err := p.ask(ctx, policy.HookCeiling, in.Call, func(ctx context.Context, s *session) error {
		return p.ceiling.answerAll(ctx, s, in, &answer)
	})
	if err != nil {
		return policy.CeilingAnswer{}, err
	}
	return answer, nil
}

func (c *ceilingHook) answerAll(ctx context.Context, s *session, in *policy.CeilingInput, answer *policy.CeilingAnswer) error {
	spend, err := c.scopes(in)
	if err != nil {
		return err
	}
	now := &literal{ast.String(in.Time.UTC().Format(time.RFC3339))}
	f := c.caps.newFrame(ctx, s, &literal{}, spend, now)
	err = c.caps.decide(ctx, s, f, func(_ string, value ast.Value) error {
		var err error
		answer.Caps, err = caps(value)
		return err
	})
	if err != nil || c.deny.empty() {
		return err
	}
	launch := newRecord(c.launch)
	f = c.deny.newFrame(ctx, s, launch, spend, now)
	for i := range in.Launches {
		if err := launch.set(&in.Launches[i]); err != nil {
			return err
		}
		err := c.deny.decide(ctx, s, f, func(rule string, value ast.Value) error {
			denied, err := reasons(rule, value)
			if len(denied) > 0 {
				if answer.Deny == nil {
					answer.Deny = map[int][]string{}
				}
				answer.Deny[i] = denied
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// scopes returns input.spend.
func (c *ceilingHook) scopes(in *policy.CeilingInput) (*literal, error) {
	scopes := make([][2]*ast.Term, len(in.Scopes))
	for i := range in.Scopes {
		spend, err := object(c.spend, &in.Scopes[i])
		if err != nil {
			return nil, err
		}
		scopes[i] = [2]*ast.Term{ast.StringTerm(in.Scopes[i].Scope), spend}
	}
	return &literal{ast.NewObject(scopes...)}, nil
}
