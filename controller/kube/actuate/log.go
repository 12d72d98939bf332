package actuate

import (
	"context"

	"github.com/go-logr/logr"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// The log has a line for each step that changes what runs: Kubernetes keeps events for an hour only, and
// the recorder drops some when many come at once.

// logStarted logs that a command has begun: its nodes are tainted, and their replacements are there as claims.
func logStarted(ctx context.Context, s *model.Snapshot, c *decide.Command, mark *model.Command) {
	logger(ctx).Info("disruption begins", "command", mark.ID, "reason", c.Method, "nodes", nodeNames(s, c.Nodes),
		"replacements", mark.Replacements, "savesUSDPerHour", c.Savings.String())
}

// logUndone logs that a command was taken back.
func logUndone(ctx context.Context, s *model.Snapshot, c *decide.Command) {
	logger(ctx).Info("disruption is taken back", "command", c.ID, "reason", c.Method, "nodes", nodeNames(s, c.Nodes), "because", c.Reason)
}

// logDeleted logs that a node's claim was deleted, so that the node is drained and its instance ends.
func logDeleted(ctx context.Context, n *model.Node, why *decide.Disruption) {
	logger(ctx).Info("node is being removed", "node", n.Name, "claim", n.Claim, "reason", why.Method, "costUSDPerHour", n.Cost().String())
}

func logger(ctx context.Context) logr.Logger {
	return logr.FromContextOrDiscard(ctx).WithName("decision")
}
