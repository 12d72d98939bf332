package actuate

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/announce"
)

// tellLaunching sends an event on each replacement that says which nodes it replaces.
func (r *Reporter) tellLaunching(s *model.Snapshot, c *decide.Command, claims []*karpv1.NodeClaim) {
	for _, claim := range claims {
		r.Events.Eventf(claim, nil, corev1.EventTypeNormal, karpv1.EventDisruptionLaunching, "Disrupt",
			"launching in the stead of %s (%s), saves %s $/h", names(s, c), c.Method, c.Savings)
	}
}

// tellWaiting sends an event on the nodes' claims that says what the command waits for,
// once per reason.
func (r *Reporter) tellWaiting(ctx context.Context, s *model.Snapshot, c *decide.Command) {
	for _, i := range c.Nodes {
		name := s.Nodes[i].Claim
		claim := &karpv1.NodeClaim{}
		if !r.isNew(types.UID("command/"+name), c.Reason) || r.Client.Get(ctx, types.NamespacedName{Name: name}, claim) != nil {
			continue
		}
		r.Events.Eventf(claim, nil, corev1.EventTypeNormal, karpv1.EventDisruptionWaitingReadiness, "Disrupt", "%s", c.Reason)
	}
}

// tellCandidates sends an event on the nodes of a consolidation that says what is
// planned for them.
func (r *Reporter) tellCandidates(ctx context.Context, s *model.Snapshot, c *decide.Command) {
	if c.Method != disrupt.Underutilized {
		return
	}
	text := fmt.Sprintf("%s to go without a replacement, saves %s $/h", names(s, c), c.Savings)
	if n := len(c.Replacements); n > 0 {
		text = fmt.Sprintf("%s to go once %d new nodes are ready, saves %s $/h", names(s, c), n, c.Savings)
	}
	r.tellNodes(ctx, s, c, karpv1.EventConsolidationCandidate, text)
}

// tellApproved sends an event on the nodes of a consolidation after it was checked a
// second time and goes on.
func (r *Reporter) tellApproved(ctx context.Context, s *model.Snapshot, c *decide.Command) {
	if c.Method == disrupt.Underutilized {
		r.tellNodes(ctx, s, c, karpv1.EventConsolidationApproved,
			fmt.Sprintf("pods, budgets, policies and prices still let %s go, saves %s $/h", names(s, c), c.Savings))
	}
}

// tellUndone sends an event on the nodes that says why a command was taken back. A
// consolidation that is no longer right after a change is rejected; any other command
// was blocked.
func (r *Reporter) tellUndone(ctx context.Context, s *model.Snapshot, c *decide.Command) {
	reason := karpv1.EventDisruptionBlocked
	if c.Invalid && c.Method == disrupt.Underutilized {
		reason = karpv1.EventConsolidationRejected
	}
	r.tellNodes(ctx, s, c, reason, fmt.Sprintf("disruption (%s) of %s was taken back: %s", c.Method, names(s, c), c.Reason))
}

func (r *Reporter) tellNodes(ctx context.Context, s *model.Snapshot, c *decide.Command, reason, text string) {
	for _, i := range c.Nodes {
		r.tellNode(ctx, &s.Nodes[i], reason, text)
	}
}

func names(s *model.Snapshot, c *decide.Command) string {
	return announce.Cut(strings.Join(nodeNames(s, c.Nodes), ", "), announce.NoteLimit/2)
}
