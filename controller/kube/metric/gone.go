package metric

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// How long the series of a NodePool stay after it and its last node are gone, and those
// of a policy after it was last asked. Prometheus reads metrics about every 30 s; a
// policy may not be asked for some time because nothing waits.
const (
	poolSeriesKept   = 30 * time.Second
	policySeriesKept = time.Hour
)

// seriesByLabel is a vector of metrics.
type seriesByLabel interface {
	DeletePartialMatch(labels prometheus.Labels) int
}

// goneSeries deletes the series of NodePools and policies that are gone, which would
// otherwise stay until the controller restarts.
type goneSeries struct {
	pools    lastSeen[string]
	policies lastSeen[policyName]
	// byPool and byPolicy are the vectors with a label for them that are not made anew
	// for every snapshot.
	byPool   func() []seriesByLabel
	byPolicy []seriesByLabel
}

type policyName struct{ namespace, name string }

// observe deletes the series of what the snapshot does not have any more.
func (g *goneSeries) observe(s *model.Snapshot, d *decide.Decision) {
	for i := range s.Pools {
		g.pools.see(s.Pools[i].Name, s.Time)
	}
	for i := range s.Nodes {
		if pool := poolOf(s, &s.Nodes[i]); pool != "" {
			g.pools.see(pool, s.Time)
		}
	}
	for i := range d.Policies {
		g.policies.see(policyName{d.Policies[i].Namespace, d.Policies[i].Name}, s.Time)
	}
	for _, pool := range g.pools.gone(s.Time, poolSeriesKept) {
		forget(g.byPool(), prometheus.Labels{nodePool: pool})
	}
	for _, p := range g.policies.gone(s.Time, policySeriesKept) {
		forget(g.byPolicy, prometheus.Labels{"namespace": p.namespace, "policy": p.name})
	}
}

func forget(from []seriesByLabel, labels prometheus.Labels) {
	for _, each := range from {
		each.DeletePartialMatch(labels)
	}
}

// lastSeen is when things were seen last.
type lastSeen[K comparable] map[K]time.Time

func (l *lastSeen[K]) see(key K, now time.Time) {
	if *l == nil {
		*l = lastSeen[K]{}
	}
	(*l)[key] = now
}

// gone returns, once, the things that were not seen for as long as they are kept.
func (l *lastSeen[K]) gone(now time.Time, kept time.Duration) []K {
	var out []K
	for key, at := range *l {
		if now.Sub(at) >= kept {
			out = append(out, key)
			delete(*l, key)
		}
	}
	return out
}
