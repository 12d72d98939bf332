package cases

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"spokeshave.dev/controller/core/policy"
)

// verifier compares an answer with what a case expects.
type verifier struct {
	c        *Case
	failures []Failure
}

func (v *verifier) failf(path []any, format string, args ...any) {
	v.failures = append(v.failures, v.c.fail(fmt.Sprintf(format, args...), append([]any{"expect"}, path...)...))
}

// answers checks the fault and whether there is an opinion. It reports whether there
// is an answer to check further.
func (v *verifier) answers(fault string, a *answered) bool {
	want := v.c.expect.Fault
	switch kind, _, _ := strings.Cut(fault, ":"); {
	case want != "" && fault == "":
		v.failf([]any{"fault"}, "want the fault %q, the policy answers", want)
	case want != "" && kind != want && !like(want, fault):
		v.failf([]any{"fault"}, "want the fault %q, got %q", want, fault)
	case want == "" && fault != "":
		v.failf(nil, "the policy is at fault: %s", fault)
	}
	if fault != "" {
		return false
	}
	if n := v.c.expect.NoOpinion; n != nil && *n != a.silent {
		v.failf([]any{"noOpinion"}, "want noOpinion %t, got %t", *n, a.silent)
	}
	return true
}

func (v *verifier) checkRank(a *answered, q *rankQuestion, out *policy.RankOutcome, fault string) {
	if !v.answers(fault, a) {
		return
	}
	e := &v.c.expect
	for i, id := range q.ids {
		answer := policy.RankAnswer{}
		if len(a.rank) > 0 && i < len(a.rank[0]) {
			answer = a.rank[0][i]
		}
		tiers := out.Tiers[i]
		gone, excluded := out.Excluded[i]
		v.text("excluded", id, e.Excluded, gone.Reason, excluded)
		if want, ok := e.Reasons[id]; ok && !like(want, answer.Reason) {
			v.failf([]any{"reasons", id}, "reason of %s: want %q, got %q", id, want, answer.Reason)
		}
		if want, ok := e.Scores[id]; ok {
			switch {
			case excluded:
				v.failf([]any{"scores", id}, "score of %s: want %s, it is excluded: %s", id, number(want), gone.Reason)
			case !v.near(want, tiers[0].Cost):
				v.failf([]any{"scores", id}, "score of %s: want %s, got %s", id, number(want), number(tiers[0].Cost))
			}
		}
		v.counts(id, &answer)
		if want, ok := e.Tiers[id]; ok && !v.sameTiers(want, tiers) {
			v.failf([]any{"tiers", id}, "tiers of %s: want %s, got %s", id, tierText(convert(want)), tierText(tiers))
		}
	}
	v.order(q, out)
}

// counts checks the number of nodes for which a score holds.
func (v *verifier) counts(id string, answer *policy.RankAnswer) {
	e := &v.c.expect
	if want, ok := e.MaxNodes[id]; ok && want != answer.MaxNodes {
		v.failf([]any{"maxNodes", id}, "maxNodes of %s: want %d, got %d", id, want, answer.MaxNodes)
	}
	if want, ok := e.Groups[id]; ok && want != answer.Group {
		v.failf([]any{"groups", id}, "group of %s: want %d, got %d", id, want, answer.Group)
	}
}

// order checks that each row costs strictly less than the next.
func (v *verifier) order(q *rankQuestion, out *policy.RankOutcome) {
	ids := v.c.expect.Order
	for i, id := range ids {
		at := slices.Index(q.ids, id)
		if gone, excluded := out.Excluded[at]; excluded {
			v.failf([]any{"order", i}, "order: %s is excluded: %s", id, gone.Reason)
			continue
		}
		if i+1 == len(ids) {
			return
		}
		cost, next := out.Tiers[at][0].Cost, out.Tiers[slices.Index(q.ids, ids[i+1])][0].Cost
		if cost >= next {
			v.failf([]any{"order", i}, "order: want %s before %s, they cost %s and %s", id, ids[i+1], number(cost), number(next))
		}
	}
}

func (v *verifier) checkConsolidate(a *answered, q *consolidateQuestion, fault string) {
	if !v.answers(fault, a) {
		return
	}
	for i, id := range q.ids {
		want, ok := v.c.expect.Verdicts[id]
		if !ok {
			continue
		}
		got := policy.ConsolidateAnswer{Verdict: policy.Allow}
		if i < len(a.consolidate) {
			got = a.consolidate[i]
		}
		path := []any{"verdicts", id}
		if want.Verdict != "" && want.Verdict != string(got.Verdict) {
			v.failf(path, "%s: want %s, got %s%s", id, want.Verdict, got.Verdict, because(got.Reason))
		}
		if want.Hold != nil && !v.near(*want.Hold, got.HoldSeconds) {
			v.failf(path, "%s: want a hold of %s s, got %s s", id, number(*want.Hold), number(got.HoldSeconds))
		}
		if want.Cost != nil && !v.near(*want.Cost, got.Cost) {
			v.failf(path, "%s: want the cost %s, got %s", id, number(*want.Cost), number(got.Cost))
		}
		if want.Reason != nil && !like(*want.Reason, got.Reason) {
			v.failf(path, "%s: want the reason %q, got %q", id, *want.Reason, got.Reason)
		}
	}
}

func (v *verifier) checkCeiling(a *answered, q *ceilingQuestion, out *policy.CeilingOutcome, fault string) {
	if !v.answers(fault, a) {
		return
	}
	e := &v.c.expect
	if e.Caps != nil && len(a.ceiling) > 0 {
		v.caps(a.ceiling[0].Caps)
	}
	for i, id := range q.ids {
		denial, denied := out.Denied[i]
		v.text("denied", id, e.Denied, denial.Reason, denied)
	}
}

func (v *verifier) caps(got map[string]policy.Cap) {
	for _, scope := range keys(v.c.expect.Caps) {
		want, path := v.c.expect.Caps[scope], []any{"caps", scope}
		c, ok := got[scope]
		switch {
		case !ok:
			v.failf(path, "want a cap on %s, there is none", scope)
		case want.Soft != c.Soft:
			v.failf(path, "cap on %s: want soft %t, got %t", scope, want.Soft, c.Soft)
		case !v.nearBound(want.HourlyUSD, c.HourlyUSD) || !v.nearBound(want.MonthlyUSD, c.MonthlyUSD):
			v.failf(path, "cap on %s: want %s, got %s", scope, capText(want.HourlyUSD, want.MonthlyUSD), capText(c.HourlyUSD, c.MonthlyUSD))
		case !v.nearBound(want.SoftHourlyUSD, c.SoftHourlyUSD) || !v.nearBound(want.SoftMonthlyUSD, c.SoftMonthlyUSD):
			v.failf(path, "soft cap on %s: want %s, got %s", scope,
				capText(want.SoftHourlyUSD, want.SoftMonthlyUSD), capText(c.SoftHourlyUSD, c.SoftMonthlyUSD))
		}
	}
	for _, scope := range keys(got) {
		if _, ok := v.c.expect.Caps[scope]; !ok {
			c := got[scope]
			v.failf([]any{"caps"}, "a cap on %s that is not expected: %s", scope, capText(c.HourlyUSD, c.MonthlyUSD))
		}
	}
}

// text checks an exclusion or denial. One that the case does not name is a failure.
func (v *verifier) text(what, id string, want map[string]string, got string, is bool) {
	reason, expected := want[id]
	switch {
	case expected && !is:
		v.failf([]any{what, id}, "want %s %s, it is not", id, what)
	case !expected && is:
		v.failf([]any{what}, "%s is %s%s", id, what, because(got))
	case expected && !like(reason, got):
		v.failf([]any{what, id}, "%s is %s: want the reason %q, got %q", id, what, reason, got)
	}
}

// near compares within the case's tolerance, or to nine digits if it has none.
func (v *verifier) near(a, b float64) bool {
	tolerance := v.c.expect.Tolerance
	if tolerance == 0 {
		tolerance = 1e-9 * max(1, math.Abs(a), math.Abs(b))
	}
	return math.Abs(a-b) <= tolerance
}

func (v *verifier) nearBound(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return v.near(*a, *b)
}

func (v *verifier) sameTiers(want []tierYAML, got []policy.Tier) bool {
	return slices.EqualFunc(want, got, func(w tierYAML, g policy.Tier) bool { return w.Until == g.Until && v.near(w.Cost, g.Cost) })
}

// like compares texts. The wanted text may contain * for any text.
func like(want, got string) bool {
	parts := strings.Split(want, "*")
	if len(parts) == 1 {
		return want == got
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(got) < len(first)+len(last) || !strings.HasPrefix(got, first) || !strings.HasSuffix(got, last) {
		return false
	}
	got = got[len(first) : len(got)-len(last)]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(got, p)
		if i < 0 {
			return false
		}
		got = got[i+len(p):]
	}
	return true
}

func convert(tiers []tierYAML) []policy.Tier {
	out := make([]policy.Tier, 0, len(tiers))
	for _, t := range tiers {
		out = append(out, policy.Tier{Until: t.Until, Cost: t.Cost})
	}
	return out
}

func tierText(tiers []policy.Tier) string {
	parts := make([]string, 0, len(tiers))
	for _, t := range tiers {
		until := "then"
		if t.Until > 0 {
			until = fmt.Sprintf("up to node %d", t.Until)
		}
		parts = append(parts, until+" "+number(t.Cost))
	}
	return strings.Join(parts, ", ")
}

func capText(hourly, monthly *float64) string {
	var parts []string
	if hourly != nil {
		parts = append(parts, number(*hourly)+" $/h")
	}
	if monthly != nil {
		parts = append(parts, number(*monthly)+" $/month")
	}
	if parts == nil {
		return "no bound"
	}
	return strings.Join(parts, " and ")
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', 10, 64) }
