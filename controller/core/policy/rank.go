package policy

import (
	"context"
	"math"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// Tier is an effective cost and the number of nodes, counted from the first, up to
// which it holds. Until 0 has no end.
type Tier struct {
	Until uint32
	Cost  float64 // USD/hour
	// Shares are the parts of groups that a node at this cost uses. A tier with
	// shares also ends when a group has less than the share left.
	Shares []Share
}

// Share is the fraction of a group that one node uses, at most 1.
type Share struct {
	Group GroupKey
	Part  float64
}

// GroupKey identifies a group: the policy that made it, its NodePool (empty for a
// shared group) and the policy's number for it.
type GroupKey struct {
	Policy, Pool string
	ID           uint32
}

// Exclusion is a policy's refusal, with its reason.
type Exclusion struct {
	Policy string
	Reason string
}

// Remark is the reason that a policy gave for a score.
type Remark struct {
	Policy string `json:"policy"`
	Reason string `json:"reason"`
}

// RankOutcome is the combined answer of the rank policies for one pool.
type RankOutcome struct {
	// Tiers has an entry per row. The last tier of an entry has no end. The first
	// tier of a row that has not ended sets the cost.
	Tiers [][]Tier
	// Excluded has an entry per excluded row, by row index.
	Excluded map[int]Exclusion
	// Remarks has an entry per row: the reasons that policies gave for its score, in
	// the order in which they were asked. It is nil when there are none. Shadow
	// policies are left out.
	Remarks [][]Remark
	// Refused, when set, names a fail-closed policy that gave no answer. The pool
	// then launches nothing.
	Refused *Exclusion
	// Failed are the policies without a part in the costs, because they failed. Shadow ones
	// are left out.
	Failed []string
}

// Rank asks the rank policies about a pool, in order. The first policy sees the
// billed price, each next one the cost so far. A row that a policy excludes stays
// excluded.
func (p *Panel) Rank(ctx context.Context, pool *model.Pool, in *RankInput) RankOutcome {
	out := RankOutcome{Tiers: make([][]Tier, len(in.Rows)), Excluded: map[int]Exclusion{}}
	billed := make([]Tier, len(in.Rows))
	for i := range in.Rows {
		in.Rows[i].Cost = in.Rows[i].Billed
		billed[i].Cost = in.Rows[i].Billed
		out.Tiers[i] = billed[i : i+1 : i+1]
	}
	for _, each := range p.policies {
		info := each.Info()
		if !info.Answers(HookRank) || !info.Match.Pool(pool) {
			continue
		}
		faults := p.use(&info, HookRank).Faults
		answers, ok, refused := p.rankDepths(ctx, each, in, out.Tiers)
		if refused {
			out.Refused = &Exclusion{Policy: p.name(&info), Reason: p.use(&info, HookRank).Fault}
			return out
		}
		switch {
		case ok:
			p.applyRank(&info, pool.Name, in.Rows, answers, &out)
		case info.Mode != Shadow && p.use(&info, HookRank).Faults > faults:
			out.Failed = append(out.Failed, p.name(&info))
		}
	}
	return out
}

// rankDepths asks the policy once per tier. answers[d][i] is the answer for row i at
// the cost of its tier d. The answers are valid until the next policy is asked.
func (p *Panel) rankDepths(ctx context.Context, each Policy, in *RankInput, tiers [][]Tier) (answers [][]RankAnswer, ok, refused bool) {
	depth := 1
	for _, t := range tiers {
		depth = max(depth, len(t))
	}
	info := each.Info()
	for d := range depth {
		for i := range in.Rows {
			in.Rows[i].Cost = tiers[i][min(d, len(tiers[i])-1)].Cost
		}
		var got []RankAnswer
		in.Reuse = p.room(d, len(in.Rows))
		ok, refused = p.ask(ctx, &info, HookRank, func(ctx context.Context) error {
			var err error
			got, err = each.Rank(ctx, in)
			if err == nil {
				err = checkRank(got, len(in.Rows))
			}
			return err
		})
		if !ok {
			return nil, false, refused
		}
		answers = append(answers, got)
	}
	return answers, true, false
}

// room returns memory for n answers about tier d. All policies use the same memory.
func (p *Panel) room(d, n int) []RankAnswer {
	for d >= len(p.answers) {
		p.answers = append(p.answers, nil)
	}
	p.answers[d] = slices.Grow(p.answers[d][:0], n)
	return p.answers[d]
}

func checkRank(answers []RankAnswer, rows int) error {
	if len(answers) != rows {
		return &Fault{Kind: FaultBadReply, Message: "the number of answers differs from the number of rows"}
	}
	for i := range answers {
		if answers[i].Group != 0 && answers[i].MaxNodes == 0 && !answers[i].Exclude {
			return &Fault{Kind: FaultBadReply, Message: "a group without maxNodes"}
		}
		if s := answers[i].Score; !answers[i].Exclude && (math.IsNaN(s) || math.IsInf(s, 0) || s < 0) {
			return &Fault{Kind: FaultBadReply, Message: "a score is not a finite number of at least 0"}
		}
	}
	return nil
}

func (p *Panel) applyRank(info *Info, pool string, rows []RankRow, answers [][]RankAnswer, out *RankOutcome) {
	u := p.use(info, HookRank)
	row := make([]RankAnswer, len(answers))
	for i := range out.Tiers {
		// A row excluded at the cost of any tier is excluded altogether. A limit on
		// the number of nodes is the pricing policy's to set, with MaxNodes.
		if first := exclusion(answers, i); first != nil {
			u.Denied++
			_, gone := out.Excluded[i]
			switch {
			case gone:
			case info.Mode == Shadow:
				u.Disagreed++
				u.differ(func() Difference { return excludes(&rows[i], pool, first.Reason) })
			default:
				out.Excluded[i] = Exclusion{Policy: p.name(info), Reason: first.Reason}
			}
			continue
		}
		for d := range answers {
			row[d] = answers[d][i]
		}
		if info.Mode == Shadow {
			if reprices(out.Tiers[i], row) {
				u.Disagreed++
				u.differ(func() Difference { return repriced(&rows[i], pool, out.Tiers[i], row) })
			}
		} else {
			out.Tiers[i] = retier(out.Tiers[i], row, GroupKey{Policy: info.Namespace + "/" + info.Name, Pool: pool})
			out.remark(i, p.name(info), row)
		}
	}
}

// remark keeps the reason that a policy gave for the score of a row: that of the
// first tier with a reason.
func (o *RankOutcome) remark(row int, name string, answers []RankAnswer) {
	at := slices.IndexFunc(answers, func(a RankAnswer) bool { return a.Reason != "" })
	if at < 0 {
		return
	}
	if o.Remarks == nil {
		o.Remarks = make([][]Remark, len(o.Tiers))
	}
	o.Remarks[row] = append(o.Remarks[row], Remark{Policy: name, Reason: answers[at].Reason})
}

// reprices reports whether the answers change the cost of any tier of a row.
func reprices(tiers []Tier, answers []RankAnswer) bool {
	for d := range tiers {
		if answers[min(d, len(answers)-1)].Score != tiers[d].Cost {
			return true
		}
	}
	return false
}

// exclusion returns the first answer that excludes the row, nil when none does.
func exclusion(answers [][]RankAnswer, row int) *RankAnswer {
	for d := range answers {
		if answers[d][row].Exclude {
			return &answers[d][row]
		}
	}
	return nil
}

// retier replaces each tier's cost by the policy's score as far as the score holds,
// and keeps the earlier cost beyond. answers has one answer per tier. key is the key
// of the policy's groups without their number. retier may modify old.
func retier(old []Tier, answers []RankAnswer, key GroupKey) []Tier {
	if len(old) == 1 && answers[0].MaxNodes == 0 { // as most answers are
		old[0].Cost = answers[0].Score
		return old
	}
	next := make([]Tier, 0, len(old)+1)
	from := uint32(0) // the number of nodes that the earlier tiers cover
	for d, t := range old {
		a := answers[d]
		switch {
		case a.Group != 0:
			next = append(next, Tier{Until: t.Until, Cost: a.Score, Shares: append(slices.Clone(t.Shares), a.share(key))}, t)
		case a.MaxNodes == 0 || t.Until != 0 && a.MaxNodes >= t.Until:
			next = append(next, Tier{Until: t.Until, Cost: a.Score, Shares: t.Shares})
		case a.MaxNodes <= from:
			next = append(next, t)
		default:
			next = append(next, Tier{Until: a.MaxNodes, Cost: a.Score, Shares: t.Shares}, t)
		}
		if len(t.Shares) == 0 {
			from = t.Until
		}
	}
	return next
}

// share returns the share of the answer's group that one node uses.
func (a *RankAnswer) share(key GroupKey) Share {
	if key.ID = a.Group; a.Shared {
		key.Pool = ""
	}
	return Share{Group: key, Part: 1 / float64(a.MaxNodes)}
}
