package policy

import (
	"context"
	"fmt"
	"time"

	"spokeshave.dev/controller/core/model"
)

// TimePerDecision is how much time a policy of the controller's namespace, or all policies of
// a plugin namespace together, may take of one decision, and as much again for what
// [Panel.RankAgain] asks. A policy is not asked once its time is used up. A question that has
// begun goes on until its own deadline.
const TimePerDecision = time.Second

// budget is the time that policies have taken of a decision, by who shares it.
type budget map[string]time.Duration

// sharer names those with whom the policy shares its time.
func sharer(info *Info) string {
	if info.Match.Scope != nil {
		return info.Namespace + "/"
	}
	return info.Namespace + "/" + info.Name
}

func (b budget) spend(info *Info, took time.Duration) { b[sharer(info)] += took }

// over returns the fault of a policy whose time is used up, nil while it is not.
func (b budget) over(info *Info) error {
	if b[sharer(info)] < TimePerDecision {
		return nil
	}
	who := "the policy has"
	if info.Match.Scope != nil {
		who = "the policies of namespace " + info.Namespace + " have"
	}
	return &Fault{Kind: FaultDeadline, Message: fmt.Sprintf("not asked: %s taken more than %s of this decision", who, TimePerDecision)}
}

// RankAgain is [Panel.Rank] for a question that the decision can do without. It leaves the
// policies' time to those that it cannot.
func (p *Panel) RankAgain(ctx context.Context, pool *model.Pool, in *RankInput) RankOutcome {
	p.budget, p.again = p.again, p.budget
	defer func() { p.budget, p.again = p.again, p.budget }()
	return p.Rank(ctx, pool, in)
}
