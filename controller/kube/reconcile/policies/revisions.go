package policies

import (
	"fmt"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/policy/load"
)

// Revisions counts the revisions of policies that were loaded or refused. nil counts nothing.
type Revisions struct {
	total *prometheus.CounterVec
	// last is by policy what was counted last for it.
	last sync.Map
}

// The values of label outcome.
const (
	outcomeActive   = "active"
	outcomeRejected = "rejected"
)

// decided is what became of a revision.
type decided struct{ revision, outcome string }

// NewRevisions registers the counter.
func NewRevisions(reg prometheus.Registerer) (*Revisions, error) {
	r := &Revisions{total: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "spokeshave_policy_revisions_total",
		Help: "Revisions of policies that this replica has loaded or rejected since it started, by outcome.",
	}, []string{"outcome"})}
	for _, outcome := range []string{outcomeActive, outcomeRejected} {
		r.total.WithLabelValues(outcome)
	}
	if err := reg.Register(r.total); err != nil {
		return nil, fmt.Errorf("register the counter of revisions: %w", err)
	}
	return r, nil
}

// count counts what the loader has decided about a policy's contents, unless that was counted
// last. So neither another attempt with the same outcome counts, nor a copy that is in force in
// place of contents that were rejected.
func (r *Revisions) count(l *load.Loader, cm *corev1.ConfigMap) {
	if r == nil {
		return
	}
	key := load.Key{Namespace: cm.Namespace, Name: cm.Name}
	now := decided{load.Hash(cm), outcomeRejected}
	if l.InForce(key) == now.revision {
		now.outcome = outcomeActive
	}
	if before, _ := r.last.Swap(key, now); before != now {
		r.total.WithLabelValues(now.outcome).Inc()
	}
}

// forget is told that a policy is gone.
func (r *Revisions) forget(key load.Key) {
	if r != nil {
		r.last.Delete(key)
	}
}
