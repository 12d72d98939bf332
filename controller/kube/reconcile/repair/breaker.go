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

// blocked returns why no node of the pool may be replaced now, "" when one may. A node
// that is not initialized yet counts as broken only once the toleration of its sign has
// passed.
func blocked(nodes []corev1.Node, pool string, signs []Policy, now time.Time) string {
	var all, own healthCount
	for i := range nodes {
		n := &nodes[i]
		of := n.Labels[karpv1.LabelNodePool]
		if of == "" {
			continue // not ours
		}
		t := diagnose(n, signs)
		broken := t != nil && (n.Labels[karpv1.LabelInitialized] == "true" || !t.due().After(now))
		all.add(broken)
		if of == pool {
			own.add(broken)
		}
	}
	const text = "%d of the %d nodes of %s are unhealthy, more than %d %%: none is replaced"
	switch {
	case own.tooMany():
		return fmt.Sprintf(text, own.broken, own.nodes, "NodePool "+pool, maxUnhealthyPercent)
	case all.tooMany():
		return fmt.Sprintf(text, all.broken, all.nodes, "the cluster", maxUnhealthyPercent)
	}
	return ""
}

func (c *healthCount) add(broken bool) { //nolint:revive // a count of two kinds
	c.nodes++
	if broken {
		c.broken++
	}
}
