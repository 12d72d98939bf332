package nodepool

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/reconcile/poolhealth"
)

// setRegistrationCondition sets NodeRegistrationHealthy from the outcomes of the pool's launches
// since it or its node class last changed. After a restart the condition stays until
// there is an outcome.
func (r *Reconciler) setRegistrationCondition(pool *karpv1.NodePool, class int64) {
	conditions := &pool.Status.Conditions
	last := meta.FindStatusCondition(*conditions, karpv1.ConditionNodeRegistrationHealthy)
	if last == nil || last.ObservedGeneration != pool.Generation || pool.Status.NodeClassObservedGeneration != class {
		r.Outcomes.Forget(pool.Name)
		pool.Status.NodeClassObservedGeneration = class
		condition.Unknown(conditions, pool.Generation, karpv1.ConditionNodeRegistrationHealthy, "AwaitingReconciliation",
			"no node was launched since the NodePool or its node class changed")
	}
	switch health := r.health(pool); {
	case !health.Known:
	case health.Healthy:
		condition.True(conditions, pool.Generation, karpv1.ConditionNodeRegistrationHealthy)
	default:
		condition.False(conditions, pool.Generation, karpv1.ConditionNodeRegistrationHealthy, health.Failure.Reason, health.Failure.Message)
	}
}

func (r *Reconciler) health(pool *karpv1.NodePool) poolhealth.Health {
	return r.Outcomes.Health(pool.Name, r.Clock.Now())
}

// pause writes on the pool until when nothing is launched from it, or removes that once
// the time has come or the pool has changed, and returns how long the pause lasts. before
// is the pool's status before it was judged.
func (r *Reconciler) pause(ctx context.Context, pool *karpv1.NodePool, before *karpv1.NodePoolStatus) (time.Duration, error) {
	have, want := pool.Annotations[karpv1.AnnotationLaunchesPaused], ""
	health := r.health(pool)
	until := health.PausedUntil
	switch {
	case !until.IsZero():
		want = until.UTC().Format(time.RFC3339) + " " + health.Failure.Message
	case !health.Known && !changed(before, &pool.Status): // paused before a restart
		if at := pausedUntil(have); at.After(r.Clock.Now()) {
			until, want = at, have
		}
	}
	if want == have {
		return r.left(until), nil
	}
	base := pool.DeepCopy()
	if want == "" {
		delete(pool.Annotations, karpv1.AnnotationLaunchesPaused)
	} else {
		pool.Annotations[karpv1.AnnotationLaunchesPaused] = want // the hash is there already
	}
	if err := r.Client.Patch(ctx, pool, client.MergeFrom(base)); err != nil {
		return 0, fmt.Errorf("annotate NodePool %s: %w", pool.Name, err)
	}
	if want != "" {
		r.Events.Eventf(pool, nil, corev1.EventTypeWarning, karpv1.EventLaunchesPaused, "Launch",
			"nothing is launched until %s: %s", until.UTC().Format(time.RFC3339), health.Failure.Message)
	}
	return r.left(until), nil
}

// pausedUntil reads the time of the annotation, zero for none.
func pausedUntil(annotation string) time.Time {
	text, _, _ := strings.Cut(annotation, " ")
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// changed reports whether the pool or its node class was changed between two judgements.
func changed(before, after *karpv1.NodePoolStatus) bool {
	generation := func(s *karpv1.NodePoolStatus) int64 {
		if c := meta.FindStatusCondition(s.Conditions, karpv1.ConditionNodeRegistrationHealthy); c != nil {
			return c.ObservedGeneration
		}
		return 0
	}
	return generation(before) != generation(after) || before.NodeClassObservedGeneration != after.NodeClassObservedGeneration
}

func (r *Reconciler) left(until time.Time) time.Duration {
	if until.IsZero() {
		return 0
	}
	return max(time.Millisecond, until.Sub(r.Clock.Now()))
}
