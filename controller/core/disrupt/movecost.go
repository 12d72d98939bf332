package disrupt

import "fmt"

// A node that goes moves its pods: each is evicted, may pull its image on a node that has
// just booted, and fills its caches anew. The cluster or the NodePool sets what that has to
// save per hour for one pod.

// MoveCost returns what the moves of the node's pods have to save, in USD/hour: the price
// that is set for one pod, times Cost.
func (v *Survey) MoveCost(node int32) float64 {
	price := v.s.Settings.MoveCost
	if pool := v.s.Nodes[node].Pool; pool >= 0 && v.s.Pools[pool].Disruption.MoveCost != nil {
		price = *v.s.Pools[pool].Disruption.MoveCost
	}
	return price.USD() * v.Cost(node)
}

// notWorthMoving returns the reason for keeping nodes that save less than their moves cost.
// bound comes before the saving.
func (v *Survey) notWorthMoving(bound string, usd float64, nodes []int32) string {
	pods, cost := 0, 0.0
	for _, i := range nodes {
		pods += len(v.moving[i])
		cost += v.MoveCost(i)
	}
	what := "pods"
	if pods == 1 {
		what = "pod"
	}
	return fmt.Sprintf("%s%.4f $/h could be saved, and moving %d %s costs %.4f $/h: not worth it", bound, usd, pods, what, cost)
}
