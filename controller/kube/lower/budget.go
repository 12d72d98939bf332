package lower

import (
	"slices"
	"strconv"
	"strings"
	"time"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// allowed is how many of a pool's nodes may be disrupted for the reason now:
// the tightest active budget, less those that are on their way out.
func allowed(np *karpv1.NodePool, reason karpv1.DisruptionReason, now time.Time, nodes, leaving int) (int, error) {
	defaulted := karpv1.NodePool{Spec: karpv1.NodePoolSpec{Disruption: np.Spec.Disruption}}
	defaulted.Spec.Disruption.Budgets = slices.Clone(np.Spec.Disruption.Budgets)
	defaulted.SetDefaults()
	most := nodes
	for i := range defaulted.Spec.Disruption.Budgets {
		b := &defaulted.Spec.Disruption.Budgets[i]
		if len(b.Reasons) > 0 && !slices.Contains(b.Reasons, reason) {
			continue
		}
		active, err := isActive(b, now)
		if err != nil {
			return 0, err
		}
		if active {
			most = min(most, bound(b.Nodes, nodes))
		}
	}
	return max(0, most-leaving), nil
}

// isActive says whether the budget's schedule hit within its duration before
// now; a budget without a schedule always is.
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

// bound reads "5" or "10%", the share rounded up. Anything else allows
// nothing.
func bound(text string, nodes int) int {
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

// Allowance is how many of a pool's nodes may be disrupted now, by reason: of so
// many nodes, of which some are on their way out. A schedule that cannot be
// read allows none.
func Allowance(np *karpv1.NodePool, now time.Time, nodes, leaving int) (empty, underutilized, drifted int) {
	of := func(reason karpv1.DisruptionReason) int {
		n, err := allowed(np, reason, now, nodes, leaving)
		if err != nil {
			return 0
		}
		return n
	}
	return of(karpv1.DisruptionEmpty), of(karpv1.DisruptionUnderutilized), of(karpv1.DisruptionDrifted)
}
