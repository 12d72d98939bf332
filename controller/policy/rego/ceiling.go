package rego

import (
	"context"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"spokeshave.dev/controller/policy"
)

// ceiler is the prepared ceiling hook.
type ceiler struct {
	caps, deny query
	launch     []field[policy.Launch]
	spend      []field[policy.ScopeSpend]
	keys       struct{ launch, spend, time *ast.Term }
}

func (p *Policy) prepareCeiling() error {
	limits, err := p.newQuery(policy.HookCeiling, ruleCap)
	if err != nil {
		return err
	}
	deny, err := p.newQuery(policy.HookCeiling, ruleDeny)
	p.ceiling = ceiler{
		caps: limits, deny: deny, spend: spendFields(),
		launch: pick(launchFields(), used(p.compiler.Modules, "launch")),
	}
	p.ceiling.keys.launch = ast.StringTerm("launch")
	p.ceiling.keys.spend = ast.StringTerm("spend")
	p.ceiling.keys.time = ast.StringTerm("time")
	return err
}

// Ceiling implements policy.Policy.
func (p *Policy) Ceiling(ctx context.Context, in *policy.CeilingInput) (policy.CeilingAnswer, error) {
	var answer policy.CeilingAnswer
	err := p.ask(ctx, policy.HookCeiling, in.Call, func(ctx context.Context, s *session) error {
		return p.ceiling.all(ctx, s, in, &answer)
	})
	if err != nil {
		return policy.CeilingAnswer{}, err
	}
	return answer, nil
}

func (c *ceiler) all(ctx context.Context, s *session, in *policy.CeilingInput, answer *policy.CeilingAnswer) error {
	shared, err := c.shared(in)
	if err != nil {
		return err
	}
	err = s.run(ctx, &c.caps, ast.NewTerm(ast.NewObject(shared...)), func(_ string, value ast.Value) error {
		var err error
		answer.Caps, err = caps(value)
		return err
	})
	if err != nil || len(c.deny.rules) == 0 {
		return err
	}
	for i := range in.Launches {
		facts, err := object(c.launch, &in.Launches[i])
		if err != nil {
			return err
		}
		input := ast.NewObject(append(shared[:len(shared):len(shared)], [2]*ast.Term{c.keys.launch, facts})...)
		err = s.run(ctx, &c.deny, ast.NewTerm(input), func(rule string, value ast.Value) error {
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

// shared is the part of the input that is the same for all launches.
func (c *ceiler) shared(in *policy.CeilingInput) ([][2]*ast.Term, error) {
	scopes := make([][2]*ast.Term, len(in.Scopes))
	for i := range in.Scopes {
		spend, err := object(c.spend, &in.Scopes[i])
		if err != nil {
			return nil, err
		}
		scopes[i] = [2]*ast.Term{ast.StringTerm(in.Scopes[i].Scope), spend}
	}
	return [][2]*ast.Term{
		{c.keys.spend, ast.NewTerm(ast.NewObject(scopes...))},
		{c.keys.time, ast.StringTerm(in.Time.UTC().Format(time.RFC3339))},
	}, nil
}
