package decision

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-logr/logr"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/cluster"
	"spokeshave.dev/controller/kube/lower"
)

// planUnplanned chooses options for each claim that no decision made, with a decision of
// its own. What it reserves for a launch counts in the decisions after it. A claim about which
// the decision fails, or that the API server does not let be written, keeps no other from its turn.
func (l *Loop) planUnplanned(ctx context.Context, view *cluster.View, policies []policy.Policy, opts decide.Options) error {
	claims := slices.Clone(view.Unplanned)
	slices.SortFunc(claims, lower.ByAge)
	for _, claim := range claims {
		notReady := ""
		if class := claim.Spec.NodeClassRef.Name; view.ClassProblems[class] != "" {
			notReady = fmt.Sprintf("EC2NodeClass %s: %s", class, view.ClassProblems[class])
		}
		s := lower.ForClaim(&view.Snapshot, claim, notReady)
		d := decide.Try(ctx, &s, policies, decide.Options{Missing: opts.Missing, LastCaps: opts.LastCaps, Elapsed: opts.Elapsed})
		for i := range d.Failures {
			logr.FromContextOrDiscard(ctx).Info("the decision about a claim has failed", "claim", claim.Name, "because", d.Failures[i].Message)
		}
		l.progress.step(l.Clock.Now())
		if len(d.Plan.Nodes) != 1 {
			l.Actuator.Reporter.TellUnplanned(claim, &s, &d)
			continue
		}
		if planned, err := l.Actuator.Plan(ctx, claim, &s, &d); err != nil {
			return err
		} else if !planned {
			continue
		}
		for i := range view.Snapshot.Nodes {
			if n := &view.Snapshot.Nodes[i]; n.Claim == claim.Name {
				n.Extra = s.NodeCost(d.Plan.Nodes[0].Pool)
				n.Reserved = d.Plan.Nodes[0].Worst() + n.Extra
			}
		}
	}
	return nil
}
