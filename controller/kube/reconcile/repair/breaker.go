package repair

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// maxUnhealthyPercent is the largest share of nodes, in per cent, that may be broken
// for any of them to be replaced. When more are, the cause is elsewhere, and replacing
// nodes makes it worse.
const maxUnhealthyPercent = 20

// healthCount counts nodes and those of them that are broken.
type healthCount struct {
	nodes, broken int
}

// tooMany reports whether more than maxUnhealthyPercent of the nodes, rounded up, are
// broken. Of a single node, one may be.
func (c healthCount) tooMany() bool { return c.broken > (c.nodes*maxUnhealthyPercent+99)/100 }

// blocked returns why no node of the pool may be replaced now, "" when one may. Only the
// pool's own nodes count, as in Karpenter: what breaks another pool says nothing of this
// one. A node that is not initialized yet counts as broken only once the toleration of its
// sign has passed.
func blocked(nodes []corev1.Node, pool string, signs []Policy, now time.Time) string {
	var own healthCount
	for i := range nodes {
		n := &nodes[i]
		if n.Labels[karpv1.LabelNodePool] != pool {
			continue
		}
		t := diagnose(n, signs)
		broken := t != nil && (n.Labels[karpv1.LabelInitialized] == "true" || !t.due().After(now))
		own.add(broken)
	}
	if own.tooMany() {
		return fmt.Sprintf("%d of the %d nodes of NodePool %s are unhealthy, more than %d %%: none is replaced", own.broken, own.nodes, pool, maxUnhealthyPercent)
	}
	return ""
}

func (c *healthCount) add(broken bool) { //nolint:revive // a count of two kinds
	c.nodes++
	if broken {
		c.broken++
	}
}
