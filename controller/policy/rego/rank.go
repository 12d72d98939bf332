package rego

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/open-policy-agent/opa/v1/ast"

	"spokeshave.dev/controller/policy"
)

// ranker is the prepared rank hook.
type ranker struct {
	query  query
	fields []field[policy.RankRow]
	pool   []field[policy.PoolFacts]
	keys   struct{ offering, pool *ast.Term }
}

func (p *Policy) prepareRank() error {
	q, err := p.newQuery(policy.HookRank, ruleMultiplier, ruleAdder, ruleExclude)
	p.rank.query = q
	p.rank.fields = pick(offeringFields(), used(p.compiler.Modules, "offering"))
	p.rank.pool = pick(poolFields(), used(p.compiler.Modules, "pool"))
	p.rank.keys.offering = ast.StringTerm("offering")
	p.rank.keys.pool = ast.StringTerm("pool")
	return err
}

func (r *ranker) notes() []string { return nil }

// verdict is what the policy says of rows with the same facts: factors and
// terms to apply, or reasons to drop them.
type verdict struct {
	factors, terms []entry
	excluded       []string
	// reason is the text of all of them that make a difference.
	reason string
}

// Rank implements policy.Policy.
func (p *Policy) Rank(ctx context.Context, in *policy.RankInput) ([]policy.RankAnswer, error) {
	answers := make([]policy.RankAnswer, len(in.Rows))
	err := p.ask(ctx, policy.HookRank, in.Call, func(ctx context.Context, s *session) error {
		return p.rank.byFacts(ctx, s, in, answers)
	})
	if err != nil {
		return nil, err
	}
	return answers, nil
}

// byFacts evaluates the rules once for all rows that are equal in every field
// that the rules look at.
func (r *ranker) byFacts(ctx context.Context, s *session, in *policy.RankInput, answers []policy.RankAnswer) error {
	pool, err := object(r.pool, &in.Pool)
	if err != nil {
		return err
	}
	known := map[string]*verdict{}
	var key []byte
	for i := range in.Rows {
		row := &in.Rows[i]
		key = r.key(key[:0], row)
		v, ok := known[string(key)]
		if !ok {
			if v, err = r.evaluate(ctx, s, row, pool); err != nil {
				return err
			}
			known[string(key)] = v
		}
		if answers[i], err = v.apply(row.Cost); err != nil {
			return offer(row, err)
		}
	}
	return nil
}

func (r *ranker) key(key []byte, row *policy.RankRow) []byte {
	for i := range r.fields {
		if f := &r.fields[i]; f.kind == number {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(f.number(row)))
		} else {
			s := f.text(row)
			key = binary.LittleEndian.AppendUint32(key, uint32(len(s)))
			key = append(key, s...)
		}
	}
	return key
}

func (r *ranker) evaluate(ctx context.Context, s *session, row *policy.RankRow, pool *ast.Term) (*verdict, error) {
	facts, err := object(r.fields, row)
	if err != nil {
		return nil, err
	}
	input := ast.NewTerm(ast.NewObject([2]*ast.Term{r.keys.offering, facts}, [2]*ast.Term{r.keys.pool, pool}))
	v := &verdict{}
	err = s.run(ctx, &r.query, input, func(rule string, value ast.Value) error {
		var err error
		switch rule {
		case ruleMultiplier:
			v.factors, err = entries(rule, value, 0)
		case ruleAdder:
			v.terms, err = entries(rule, value, -math.MaxFloat64)
		case ruleExclude:
			v.excluded, err = reasons(rule, value)
		}
		return err
	})
	v.reason = v.why()
	return v, err
}

func (v *verdict) why() string {
	if len(v.excluded) > 0 {
		return together(v.excluded)
	}
	var parts []string
	for _, f := range v.factors {
		if f.value != 1 {
			parts = append(parts, f.reason)
		}
	}
	for _, t := range v.terms {
		if t.value != 0 {
			parts = append(parts, t.reason)
		}
	}
	return together(parts)
}

// apply prices a row at the cost it has so far.
func (v *verdict) apply(cost float64) (policy.RankAnswer, error) {
	if len(v.excluded) > 0 {
		return policy.RankAnswer{Exclude: true, Reason: v.reason}, nil
	}
	a := policy.RankAnswer{Score: cost}
	for _, f := range v.factors {
		a.Score *= f.value
	}
	for _, t := range v.terms {
		a.Score += t.value
	}
	if math.IsNaN(a.Score) || math.IsInf(a.Score, 0) || a.Score < 0 {
		return a, badReply("the effective cost is %v: it must be finite and at least 0", a.Score)
	}
	a.Reason = v.reason
	return a, nil
}

// offer says which offering an error is about.
func offer(row *policy.RankRow, err error) error {
	return fmt.Errorf("%s %s in %s: %w", row.CapacityType, row.InstanceType, row.Zone, err)
}
