package decision

import (
	"context"
	"time"

	"github.com/go-logr/logr"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/actuate"
	"spokeshave.dev/controller/kube/cluster"
)

// apply carries out the decision, and returns after how long to make the next one. behind
// says that an object had changed before. What the API server refuses is left out: see
// [Loop.refuse].
func (l *Loop) apply(ctx context.Context, view *cluster.View, d *decide.Decision, behind bool) (time.Duration, error) {
	launched, err := l.Actuator.Launch(ctx, &view.Snapshot, view.Pools, d)
	l.progress.step(l.Clock.Now())
	l.applied.Add(&launched)
	created := createdBy(&view.Snapshot, d, launched.Claims)
	l.Metrics.Created(&view.Snapshot, d, launched.Claims)
	stale, err := l.refuse(ctx, view, created, err)
	if err != nil {
		return 0, err
	}
	stale = stale || behind
	l.Actuator.Reporter.TellUnplaced(&view.Snapshot, view.Pools, d)
	l.Actuator.Reporter.TellPools(&view.Snapshot, view.Pools, d)
	assigned, err := l.Actuator.Assign(ctx, &view.Snapshot, d)
	l.applied.Add(&assigned)
	again, err := l.refuse(ctx, view, nil, err)
	if err != nil {
		return 0, err
	}
	stale = stale || again
	if d.Disrupted {
		again, err := l.disrupt(ctx, view, d)
		if err != nil {
			return 0, err
		}
		stale = stale || again
	}
	if stale || len(l.applied.Tainted) > 0 {
		return validation, nil
	}
	return min(l.next(d), bindingWait(&view.Snapshot, l.Every), l.rolloutWait(&view.Snapshot)), nil
}

// settle writes what the snapshot says of announced pods on their claims. It comes before the
// decision, so that pods which come meanwhile are not let onto places that are taken.
func (l *Loop) settle(ctx context.Context, view *cluster.View) (stale bool, _ error) {
	settled, err := l.Actuator.Settle(ctx, view.Announced)
	l.applied.Add(&settled)
	return l.refuse(ctx, view, nil, err)
}

// disrupt carries out what the decision says of disruptions. stale says that an object
// had changed in between.
func (l *Loop) disrupt(ctx context.Context, view *cluster.View, d *decide.Decision) (stale bool, _ error) {
	l.progress.step(l.Clock.Now())
	disrupted, err := l.Actuator.Disrupt(ctx, &view.Snapshot, d)
	l.applied.Add(&disrupted)
	if stale, err = l.refuse(ctx, view, nil, err); err == nil {
		var commanded cluster.Change
		l.progress.step(l.Clock.Now())
		commanded, err = l.Actuator.Command(ctx, &view.Snapshot, view.Pools, d)
		l.applied.Add(&commanded)
		var again bool
		again, err = l.refuse(ctx, view, nil, err)
		stale = stale || again
	}
	l.Metrics.Disrupted(&view.Snapshot, d, &l.applied)
	return stale, err
}

// createdBy counts the claims of the plan that were created, by NodePool.
func createdBy(s *model.Snapshot, d *decide.Decision, claims []string) map[string]int {
	out, created := map[string]int{}, make(map[string]bool, len(claims))
	for _, name := range claims {
		created[name] = true
	}
	for i := range d.Plan.Nodes {
		if pool := s.Pools[d.Plan.Nodes[i].Pool].Name; created[model.ClaimName(pool, d.ID, i)] {
			out[pool]++
		}
	}
	return out
}

// refuse goes through what the API server refused in an application. Pods whose claims
// were refused are left out of the next decisions for a while, and the NodePool or the
// object says why. created counts by NodePool the claims that the plan's launch created;
// nil when it was not a launch. stale says that an object had changed since it was read,
// so that the next decision is due. The error is the one that ended the application, if
// any.
func (l *Loop) refuse(ctx context.Context, view *cluster.View, created map[string]int, err error) (stale bool, _ error) {
	refused, rest := actuate.Refusals(err)
	messages := map[string]string{}
	for _, r := range refused {
		if r.Stale() {
			stale = true
			continue
		}
		l.Metrics.Refused(r.Kind)
		logr.FromContextOrDiscard(ctx).Error(r.Err, "the API server refuses a part of a decision; the rest is applied", "kind", r.Kind, "name", r.Name, "nodePool", r.Pool)
		pool := view.Pools[r.Pool]
		if pool == nil {
			l.Actuator.TellNotWritten(ctx, view.Snapshot.Time, r)
			continue
		}
		l.holds.refused(view.Snapshot.Time, r, pool.Generation, created[r.Pool] > 0)
		messages[r.Pool] = r.Message()
	}
	for pool := range created {
		l.holds.accepted(pool)
		if messages[pool] == "" {
			messages[pool] = "" // the claims of it were accepted
		}
	}
	for name, message := range messages {
		if pool := view.Pools[name]; pool != nil {
			if err := l.Actuator.TellRefused(ctx, pool, message); err != nil {
				logr.FromContextOrDiscard(ctx).Error(err, "the condition is written with the next claim", "nodePool", name)
			}
		}
	}
	return stale, rest
}
