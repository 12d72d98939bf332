package policy

import (
	"fmt"
	"maps"
	"slices"
)

// differencesKept is how many Differences of a policy a decision keeps as examples.
// Disagreed counts all.
const differencesKept = 5

// Difference is one answer of a Shadow policy that would have changed the outcome.
type Difference struct {
	// About names the offering, node, launch or scope that the answer was about.
	About string
	// Outcome is what holds without the policy, and Would what would hold with it.
	Outcome, Would string
}

// differ keeps an example of an answer that would have changed the outcome.
func (u *Use) differ(example func() Difference) {
	if len(u.Differences) >= differencesKept {
		return
	}
	if d := example(); !slices.Contains(u.Differences, d) { // a policy may be asked the same twice
		u.Differences = append(u.Differences, d)
	}
}

// offeringName describes the offering of a row to people.
func offeringName(r *RankRow, pool string) string {
	return fmt.Sprintf("%s (%s) in %s, NodePool %s", r.InstanceType, r.CapacityType, r.Zone, pool)
}

// because appends a reason to a sentence, if there is one.
func because(sentence, reason string) string {
	if reason == "" {
		return sentence
	}
	return sentence + ": " + reason
}

// excludes describes that a Shadow policy would have excluded an offering.
func excludes(r *RankRow, pool, reason string) Difference {
	return Difference{About: offeringName(r, pool), Outcome: "may be launched", Would: because("would be excluded", reason)}
}

// repriced describes that a Shadow policy would have scored an offering differently.
func repriced(r *RankRow, pool string, tiers []Tier, answers []RankAnswer) Difference {
	d := Difference{About: offeringName(r, pool)}
	for i := range tiers {
		if a := &answers[min(i, len(answers)-1)]; a.Score != tiers[i].Cost {
			d.Outcome = fmt.Sprintf("counts as %.4f $/h", tiers[i].Cost)
			d.Would = because(fmt.Sprintf("would count as %.4f $/h", a.Score), a.Reason)
			break
		}
	}
	return d
}

// keepsNode describes that a Shadow policy would have kept a node.
func keepsNode(c *Candidate, a *ConsolidateAnswer) Difference {
	return Difference{About: "node " + c.Node + " (" + c.Method + ")", Outcome: "may be disrupted", Would: because("would be kept", a.Reason)}
}

// wouldCap keeps examples of caps that are lower than those of the policies before. They
// do not count as disagreements, because a lower cap alone changes no launch.
func (u *Use) wouldCap(o *CeilingOutcome, caps map[string]Cap) {
	for _, scope := range slices.Sorted(maps.Keys(caps)) {
		c := caps[scope]
		for _, each := range []struct {
			usd    *float64
			period string
			before map[string]ScopeCap
			of     func(Cap) *float64
		}{
			{c.HourlyUSD, "hour", o.Hourly, Cap.hourly}, {c.MonthlyUSD, "month", o.Monthly, Cap.monthly},
		} {
			if each.usd == nil || c.Soft {
				continue
			}
			outcome := "has no cap"
			if old, ok := each.before[scope]; ok {
				bound := *each.of(old.Cap)
				if bound <= *each.usd {
					continue
				}
				outcome = fmt.Sprintf("is capped at %.2f $/%s", bound, each.period)
			}
			u.differ(func() Difference {
				return Difference{About: scope, Outcome: outcome, Would: fmt.Sprintf("would be capped at %.2f $/%s", *each.usd, each.period)}
			})
		}
	}
}

// refusedLaunch describes that a Shadow policy would have refused a launch.
func refusedLaunch(l *Launch, reasons []string) Difference {
	reason := ""
	if len(reasons) > 0 {
		reason = reasons[0]
	}
	return Difference{About: fmt.Sprintf("a launch of %s (%s) in %s, NodePool %s", l.InstanceType, l.CapacityType, l.Zone, l.NodePool), Outcome: "is launched", Would: because("would be refused", reason)}
}
