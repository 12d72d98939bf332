package lower

import (
	"slices"
	"strconv"
	"strings"
	"time"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// allowedDisruptions returns how many of a pool's nodes may be disrupted now for the reason: the
// smallest bound among the active budgets, less the leaving nodes, and never below 0.
// nodes is the number of the pool's nodes, leaving the number of them that are being
// removed.
func allowedDisruptions(np *karpv1.NodePool, reason karpv1.DisruptionReason, now time.Time, nodes, leaving int) (int, error) {
	budgets, most := disruptionDefaulted(np).Budgets, nodes
	for i := range budgets {
		b := &budgets[i]
		if len(b.Reasons) > 0 && !slices.Contains(b.Reasons, reason) {
			continue
		}
		active, err := isActive(b, now)
		if err != nil {
			return 0, err
		}
		if active {
			most = min(most, maxNodes(b.Nodes, nodes))
		}
	}
	return max(0, most-leaving), nil
}

// isActive reports whether the budget's schedule fired within the budget's duration
// before now. A budget without a schedule is always active.
func isActive(b *karpv1.Budget, now time.Time) (bool, error) {
	if b.Schedule == nil || b.Duration == nil {
		return true, nil
	}
	active, err := parseSchedule(*b.Schedule)
	if err != nil {
		return false, err
	}
	return active.hitWithin(now.UTC(), b.Duration.Duration), nil
}

// maxNodes parses a budget's number of nodes: "5", or "10%" of nodes, rounded up. Any
// other text is 0: no node may be disrupted.
func maxNodes(text string, nodes int) int {
	if share, ok := strings.CutSuffix(text, "%"); ok {
		n, err := strconv.Atoi(share)
		if err != nil || n < 0 || n > 100 {
			return 0
		}
		return (n*nodes + 99) / 100
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return max(0, n)
}

// AllowedDisruptions returns how many of a pool's nodes may be disrupted now, by reason. nodes
// is the number of the pool's nodes, leaving the number of them that are being removed.
// A budget with a schedule that cannot be parsed allows none.
func AllowedDisruptions(np *karpv1.NodePool, now time.Time, nodes, leaving int) (empty, underutilized, drifted int) {
	of := func(reason karpv1.DisruptionReason) int {
		n, err := allowedDisruptions(np, reason, now, nodes, leaving)
		if err != nil {
			return 0
		}
		return n
	}
	return of(karpv1.DisruptionEmpty), of(karpv1.DisruptionUnderutilized), of(karpv1.DisruptionDrifted)
}
