package decision

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"

	"spokeshave.dev/controller/core/crash"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/rollout"
	"spokeshave.dev/controller/kube/cluster"
	"spokeshave.dev/controller/kube/lower"
)

// starting are the pods to come of owners that have yet to begin ([cluster.Cluster.Starting]).
type starting func(came map[types.UID]bool) (all, begin int)

// all counts all of them.
func (s starting) all(came map[types.UID]bool) int {
	all, _ := s(came)
	return all
}

// begin counts those of new workloads. Nobody waits for the others any longer than a batch:
// nodes of Jobs are gone before a better plan has paid for the wait, and an update is not made
// slower.
func (s starting) begin(came map[types.UID]bool) int {
	_, begin := s(came)
	return begin
}

// following counts the pods for which those of new workloads may wait: none where nothing waits.
func following(c *Config) func(came map[types.UID]bool) int {
	if c.Rollout <= 0 {
		return func(map[types.UID]bool) int { return 0 }
	}
	return starting(c.Cluster.Starting).begin
}

// snapshot takes the snapshot to decide about. Pods of new workloads wait for those of others
// that have yet to begin, as far as that gains anything ([rollout.Gains]).
func (l *Loop) snapshot(ctx context.Context) (*cluster.View, error) {
	view, err := l.Cluster.Snapshot(ctx, lower.Rollout{Beginning: l.beginning, Limit: l.Rollout})
	if err != nil || !view.Snapshot.AwaitsRollout() || gains(ctx, &view.Snapshot) {
		return view, err
	}
	return l.Cluster.Snapshot(ctx, lower.Rollout{})
}

// gains is [rollout.Gains], and false if that panics: the pods are decided about, where a pod
// that causes a panic is found.
func gains(ctx context.Context, s *model.Snapshot) (gains bool) {
	err := crash.Do(func() error {
		gains = rollout.Gains(s)
		return nil
	})
	if err != nil {
		logr.FromContextOrDiscard(ctx).WithName("decision").Error(err, "pods of new workloads wait for no others", "stack", crash.Stack(err))
	}
	return gains
}

// rolloutWait returns after how long to decide again while pods wait for those of other new
// workloads: the wait may be over at any time ([lower.Rollout]). Without such pods it returns
// the usual time.
func (l *Loop) rolloutWait(s *model.Snapshot) time.Duration {
	if s.AwaitsRollout() {
		return l.Idle
	}
	return l.Every
}
