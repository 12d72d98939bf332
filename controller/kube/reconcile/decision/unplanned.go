package decision

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/cluster"
	"spokeshave.dev/controller/kube/lower"
)

// unplannedTime is how long a round may decide about claims that no decision made. Those left over
// have their turn in a later round, so that many of them, with a policy that is slow about each, put
// off nobody's pods for longer.
const unplannedTime = 2 * time.Second

// turns are when claims that no decision made were last decided about, in order of these
// decisions.
type turns struct {
	last map[types.UID]int64
	made int64
}

// order sorts claims by their turn: those that had none come first, the oldest before the others. It forgets
// all other claims.
func (t *turns) order(claims []*karpv1.NodeClaim) {
	last := make(map[types.UID]int64, len(claims))
	for _, claim := range claims {
		if at, ok := t.last[claim.UID]; ok {
			last[claim.UID] = at
		}
	}
	t.last = last
	slices.SortFunc(claims, func(a, b *karpv1.NodeClaim) int {
		return cmp.Or(cmp.Compare(last[a.UID], last[b.UID]), lower.ByAge(a, b))
	})
}

// had records that it was a claim's turn.
func (t *turns) had(claim *karpv1.NodeClaim) {
	t.made++
	t.last[claim.UID] = t.made
}

// none reports whether a claim has had no turn.
func (t *turns) none(claim *karpv1.NodeClaim) bool { return t.last[claim.UID] == 0 }

// planUnplanned chooses options for each claim that no decision made, with a decision of
// its own. What it reserves for a launch counts in the decisions after it. A claim about which
// the decision fails, or that the API server does not let be written, keeps no other from its turn.
// left says that the round's time was over before all have had a turn.
func (l *Loop) planUnplanned(ctx context.Context, view *cluster.View, policies []policy.Policy, opts decide.Options) (left bool, err error) {
	claims := slices.Clone(view.Unplanned)
	l.turns.order(claims)
	start := l.Clock.Now()
	for i, claim := range claims {
		if l.Clock.Since(start) >= unplannedTime {
			return slices.ContainsFunc(claims[i:], l.turns.none), nil
		}
		l.turns.had(claim)
		if err := l.planClaim(ctx, view, claim, policies, opts); err != nil {
			return false, err
		}
	}
	return false, nil
}

// planClaim is planUnplanned for one claim.
func (l *Loop) planClaim(ctx context.Context, view *cluster.View, claim *karpv1.NodeClaim, policies []policy.Policy, opts decide.Options) error {
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
		return nil
	}
	planned, err := l.Actuator.Plan(ctx, claim, &s, &d)
	if !planned {
		return err
	}
	l.applied.Optioned = append(l.applied.Optioned, claim.Name)
	for i := range view.Snapshot.Nodes {
		if n := &view.Snapshot.Nodes[i]; n.Claim == claim.Name {
			n.Extra = s.NodeCost(d.Plan.Nodes[0].Pool)
			n.Reserved = d.Plan.Nodes[0].Worst() + n.Extra
		}
	}
	return err
}
