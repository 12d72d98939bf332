package decision

import (
	"context"
	"time"

	"github.com/go-logr/logr"

	"spokeshave.dev/controller/core/crash"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/rollout"
	"spokeshave.dev/controller/kube/cluster"
	"spokeshave.dev/controller/kube/lower"
)

// starting counts the pods to come of owners that have yet to begin ([cluster.Cluster.Starting]).
func (c *Config) starting() int {
	all, _ := c.Cluster.Starting()
	return all
}

// following counts those of new workloads: pods of other new workloads wait for them. It is 0 where
// [Config.Rollout] lets nothing wait. Pods of Jobs and of updates are waited for no longer than a
// batch: nodes of Jobs are gone before a better plan has paid for the wait, and an update is not made
// slower.
func (c *Config) following() int {
	if c.Rollout <= 0 {
		return 0
	}
	_, begin := c.Cluster.Starting()
	return begin
}

// enoughWorkloads is how many workloads an answer must have compared to hold for those to come: of the
// first few of a burst whose pods keep each other apart, some may share nodes.
const enoughWorkloads = 8

// snapshot takes the snapshot to decide about. Pods of new workloads wait for those of others
// that have yet to begin, as far as that gains anything ([rollout.Ask]). Once it gained nothing for
// enoughWorkloads or more, nobody waits for [Config.Rollout].
func (l *Loop) snapshot(ctx context.Context) (*cluster.View, error) {
	now := l.Clock.Now()
	if now.Before(l.apart) {
		return l.Cluster.Snapshot(ctx, lower.Rollout{})
	}
	view, err := l.Cluster.Snapshot(ctx, lower.Rollout{Beginning: l.beginning, Limit: l.Rollout})
	if err != nil || !waitsForRollout(&view.Snapshot) {
		return view, err
	}
	answer := ask(ctx, &view.Snapshot)
	if answer.Gains {
		return view, nil
	}
	if answer.Compared >= enoughWorkloads {
		l.apart = now.Add(l.Rollout)
		logr.FromContextOrDiscard(ctx).WithName("decision").Info("new workloads share no nodes: none waits for others",
			"compared", answer.Compared, "until", l.apart.UTC().Format(time.TimeOnly))
	}
	return l.Cluster.Snapshot(ctx, lower.Rollout{})
}

// ask is [rollout.Ask], and gains nothing if that panics: the pods are decided about, where a pod
// that causes a panic is found.
func ask(ctx context.Context, s *model.Snapshot) (answer rollout.Answer) {
	err := crash.Do(func() error {
		answer = rollout.Ask(s)
		return nil
	})
	if err != nil {
		logr.FromContextOrDiscard(ctx).WithName("decision").Error(err, "pods of new workloads wait for no others", "stack", crash.Stack(err))
	}
	return answer
}

func waitsForRollout(s *model.Snapshot) bool {
	for i := range s.Pods {
		if held := s.Pods[i].Held; held != nil && held.Code == model.WaitsForRollout {
			return true
		}
	}
	return false
}

// rolloutWait returns after how long to decide again while pods wait for those of other new
// workloads: the wait may be over at any time ([lower.Rollout]). Without such pods it returns
// the usual time.
func (l *Loop) rolloutWait(s *model.Snapshot) time.Duration {
	if waitsForRollout(s) {
		return l.Idle
	}
	return l.Every
}
