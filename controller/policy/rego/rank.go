package rego

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"spokeshave.dev/controller/core/policy"
)

// maxEvaluated is the largest number of OPA evaluations in one call. The remaining
// rows, which cost more than those evaluated, are excluded.
const maxEvaluated = 2000

// rankHook is the prepared rank hook.
type rankHook struct {
	plan   plan
	fields []field[policy.RankRow]
	pool   []field[policy.PoolFacts]
	// verdictPool holds verdicts for reuse by later calls, *verdicts.
	verdictPool sync.Pool
}

func (p *Policy) prepareRank(ctx context.Context) error {
	r := &p.rank
	r.fields = pick(offeringFields(), used(p.compiler.Modules, "offering"))
	r.pool = pick(poolFields(), used(p.compiler.Modules, "pool"))
	return p.makePlan(ctx, &r.plan, policy.HookRank, inputs{
		{"offering", newRecord(r.fields)}, {"pool", newRecord(r.pool)},
	})
}

// verdict is the policy's answer for rows with the same facts: factors and terms to
// apply, or reasons to exclude them.
type verdict struct {
	factors, terms []entry
	excluded       []string
	// reason joins the reasons of all entries that make a difference.
	reason string
}

// Rank implements policy.Policy.
func (p *Policy) Rank(ctx context.Context, in *policy.RankInput) ([]policy.RankAnswer, error) {
	answers := slices.Grow(in.Reuse[:0], len(in.Rows))[:len(in.Rows)] // each is set below, or none is used
	err := p.ask(ctx, policy.HookRank, in.Call, func(ctx context.Context, s *session) error {
		return p.rank.answerAll(ctx, s, in, answers)
	})
	if err != nil {
		return nil, err
	}
	return answers, nil
}

func (r *rankHook) answerAll(ctx context.Context, s *session, in *policy.RankInput, answers []policy.RankAnswer) error {
	row, pool := newRecord(r.fields), newRecord(r.pool)
	if err := pool.set(&in.Pool); err != nil {
		return err
	}
	c := rankCall{rankHook: r, frame: r.plan.newFrame(ctx, s, row, pool), known: r.takeVerdicts()}
	defer func() { r.keepVerdicts(c.known) }()
	for _, i := range r.order(in.Rows) {
		if s.cancel.Cancelled() {
			return stopped()
		}
		err := row.set(&in.Rows[i])
		if err == nil {
			answers[i], err = c.answer(ctx, s, &in.Rows[i])
		}
		if err != nil {
			return withOffering(&in.Rows[i], err)
		}
	}
	return nil
}

// maxKnown is the largest number of verdicts kept between calls, and maxKept the most bytes that
// they take: a policy's share of its process's memory is measured before it is asked.
const (
	maxKnown = 4096
	maxKept  = 1 << 20
)

// verdicts are verdicts by what they follow from.
type verdicts struct {
	of   map[string]*verdict
	size int
}

func (k *verdicts) add(key string, v *verdict) {
	k.of[key] = v
	k.size += len(key) + v.size()
}

// takeVerdicts returns the verdicts for one call. Those of an earlier call are still valid where
// they follow from programs alone.
func (r *rankHook) takeVerdicts() *verdicts {
	if known, ok := r.verdictPool.Get().(*verdicts); ok {
		return known
	}
	return &verdicts{of: map[string]*verdict{}}
}

func (r *rankHook) keepVerdicts(known *verdicts) {
	if r.plan.opaQuery.empty() && known.kept() {
		r.verdictPool.Put(known)
	}
}

func (k *verdicts) kept() bool { return len(k.of) <= maxKnown && k.size <= maxKept }

// order returns the order in which rows are answered. It matters only when there may
// be too many rows to evaluate.
func (r *rankHook) order(rows []policy.RankRow) []int {
	out := make([]int, len(rows))
	for i := range out {
		out[i] = i
	}
	if !r.plan.opaQuery.empty() {
		slices.SortStableFunc(out, func(a, b int) int {
			switch x, y := rows[a].Cost, rows[b].Cost; {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
	}
	return out
}

// rankCall is one call of the hook.
type rankCall struct {
	*rankHook
	frame     *frame
	known     *verdicts
	key       []byte
	evaluated int
}

// answer returns the row's answer. It reuses the verdict of an earlier row when all
// programs matched in the same way, with results known at load, and the fields that
// the other rules read are equal.
func (c *rankCall) answer(ctx context.Context, s *session, row *policy.RankRow) (policy.RankAnswer, error) {
	key, fixed, err := c.plan.match(c.frame, c.key[:0])
	c.key = key
	if err != nil {
		return policy.RankAnswer{}, err
	}
	if !c.plan.opaQuery.empty() {
		key = c.appendFacts(key, row)
		c.key, fixed = key, true
	}
	v := c.known.of[string(key)]
	if v == nil || !fixed {
		if v == nil && !c.plan.opaQuery.empty() {
			if c.evaluated++; c.evaluated > maxEvaluated {
				return policy.RankAnswer{Exclude: true, Reason: fmt.Sprintf("not evaluated: more than %d different offerings, and these are dearer", maxEvaluated)}, nil
			}
		}
		if v, err = c.evaluate(ctx, s); err != nil {
			return policy.RankAnswer{}, err
		}
		if fixed {
			c.known.add(string(key), v)
		}
	}
	return v.apply(row.Cost)
}

// appendFacts appends the fields that the rules read.
func (r *rankHook) appendFacts(key []byte, row *policy.RankRow) []byte {
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

func (c *rankCall) evaluate(ctx context.Context, s *session) (*verdict, error) {
	v := &verdict{}
	err := c.plan.evaluate(ctx, s, c.frame, func(rule string, value ast.Value) error {
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

// size returns how many bytes a verdict takes, its reasons included.
func (v *verdict) size() int {
	const each, text = 100, 16 // of a verdict with its place in a map; of a string's head
	n := each + len(v.reason)
	for _, reason := range v.excluded {
		n += text + len(reason)
	}
	for _, e := range slices.Concat(v.factors, v.terms) {
		n += text + 8 + len(e.reason)
	}
	return n
}

func (v *verdict) why() string {
	if len(v.excluded) > 0 {
		return joinReasons(v.excluded)
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
	return joinReasons(parts)
}

// apply computes the row's score from the cost so far.
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

// withOffering adds the offering to an error.
func withOffering(row *policy.RankRow, err error) error {
	return fmt.Errorf("%s %s in %s: %w", row.CapacityType, row.InstanceType, row.Zone, err)
}
