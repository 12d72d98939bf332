// Package forceful deletes NodeClaims whose nodes have to go in any case: the instance
// is reclaimed, the node is broken, or it is too old. It writes the reason on the claim
// before it deletes it, and counts the deletion.
//
// Optional disruption is decided in controller/core/decide; nodes are drained in
// reconcile/termination.
package forceful

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/metric"
	"spokeshave.dev/controller/kube/reconcile/index"
)

// Deleter deletes claims.
type Deleter struct {
	Client client.Client
	Clock  clock.PassiveClock
	// Metrics may be nil.
	Metrics *metric.Reconcilers
}

// Cause is why a claim is deleted.
type Cause struct {
	// Reason is one word in CamelCase, for the condition DisruptionReason.
	Reason string
	// MetricReason is the reason in metrics. When empty, it is Reason in snake_case.
	MetricReason string
	// Message is a sentence for users.
	Message string
	// Deadline is when the node is terminated, drained or not. Pods are stopped early
	// enough to have their own grace period. Zero sets no deadline.
	Deadline time.Time
	// Notice says that EC2 takes the instance away at the deadline, whatever is done here.
	Notice bool
}

// Delete deletes the claim unless it is being deleted already, and reports whether it
// did. It writes the deadline in either case, if it is earlier than the one that the
// claim has.
func (e *Deleter) Delete(ctx context.Context, claim *karpv1.NodeClaim, why Cause) (bool, error) {
	claim = claim.DeepCopy()
	if err := e.writeDeadline(ctx, claim, &why); err != nil {
		return false, err
	}
	if !claim.DeletionTimestamp.IsZero() {
		return false, nil
	}
	if err := condition.WriteDisruption(ctx, e.Client, claim, condition.Disruption{Reason: why.Reason, Message: why.Message, At: e.Clock.Now()}); err != nil {
		return false, err
	}
	err := e.Client.Delete(ctx, claim, client.Preconditions{UID: &claim.UID})
	if err != nil {
		if client.IgnoreNotFound(err) == nil {
			return false, nil
		}
		return false, fmt.Errorf("delete claim %s: %w", claim.Name, err)
	}
	word := why.MetricReason
	if word == "" {
		word = why.Reason
	}
	e.Metrics.Disrupted(Subject(claim), word)
	logr.FromContextOrDiscard(ctx).Info("node is being removed", "node", claim.Status.NodeName, "claim", claim.Name, "reason", why.Reason, "because", why.Message)
	return true, nil
}

// Subject returns the labels under which metrics count a claim.
func Subject(claim *karpv1.NodeClaim) metric.Subject {
	return metric.SubjectOf(claim.Labels)
}

// writeDeadline writes the deadline on the claim and its node, unless they have an
// earlier one.
func (e *Deleter) writeDeadline(ctx context.Context, claim *karpv1.NodeClaim, why *Cause) error {
	if why.Deadline.IsZero() {
		return nil
	}
	on := []string{karpv1.AnnotationTerminationTimestamp}
	if why.Notice {
		on = append(on, karpv1.AnnotationInterrupted)
	}
	if err := e.annotateDeadline(ctx, claim, why.Deadline, on...); err != nil {
		return err
	}
	if claim.Status.ProviderID == "" {
		return nil
	}
	var nodes corev1.NodeList
	if err := e.Client.List(ctx, &nodes, client.MatchingFields{index.ProviderID: claim.Status.ProviderID}); err != nil {
		return fmt.Errorf("find node of %s: %w", claim.Name, err)
	}
	for i := range nodes.Items {
		if err := e.annotateDeadline(ctx, nodes.Items[i].DeepCopy(), why.Deadline, karpv1.AnnotationTerminationTimestamp); err != nil {
			return err
		}
	}
	return nil
}

// annotateDeadline writes the deadline on o, which it changes, in those of the annotations that have no
// earlier one.
func (e *Deleter) annotateDeadline(ctx context.Context, o client.Object, at time.Time, on ...string) error {
	add := map[string]string{}
	for _, key := range on {
		if known, err := time.Parse(time.RFC3339, o.GetAnnotations()[key]); err != nil || known.After(at) {
			add[key] = at.UTC().Format(time.RFC3339)
		}
	}
	if len(add) == 0 {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": add}})
	if err != nil {
		return fmt.Errorf("encode deadline of %s: %w", o.GetName(), err)
	}
	if err := e.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, patch)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write deadline on %s: %w", o.GetName(), err)
	}
	return nil
}
