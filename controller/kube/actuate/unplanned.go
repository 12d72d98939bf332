package actuate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/kube/reconcile/configmap"
)

// Plan writes on a claim that no decision made the options with which it may be launched,
// and what they reserve. d has one planned node, which stands for the claim. It is true when these
// are, or may be, written. It is false for a claim that was changed since it was read, which is left for
// the next decision, and for one that the API server refuses to change, which gets an event.
func (a *Actuator) Plan(ctx context.Context, claim *karpv1.NodeClaim, s *model.Snapshot, d *decide.Decision) (bool, error) {
	n := &d.Plan.Nodes[0]
	launch, err := json.Marshal(n.Options)
	if err != nil {
		return false, fmt.Errorf("encode the options of %s: %w", claim.Name, err)
	}
	planned := claim.DeepCopy()
	planned.Annotations = maps.Clone(claim.Annotations)
	if planned.Annotations == nil {
		planned.Annotations = map[string]string{}
	}
	planned.Annotations[karpv1.AnnotationLaunch] = string(launch)
	planned.Annotations[karpv1.AnnotationReservedUSD] = strconv.FormatFloat((n.Worst() + s.NodeCost(n.Pool)).USD(), 'f', 6, 64)
	if labels := s.Pools[n.Pool].Labels; len(labels) > 0 {
		text, err := json.Marshal(labels)
		if err != nil {
			return false, fmt.Errorf("encode the labels of NodePool %s: %w", s.Pools[n.Pool].Name, err)
		}
		planned.Annotations[karpv1.AnnotationNodePoolLabels] = string(text)
	}
	err = a.Client.Patch(ctx, planned, client.MergeFromWithOptions(claim, client.MergeFromWithOptimisticLock{}))
	switch {
	case err == nil:
		return true, nil
	case apierrors.IsConflict(err) || apierrors.IsNotFound(err):
		return false, nil
	case isRefused(err):
		a.Reporter.tellUnplanned(claim, "the API server refuses its options: "+configmap.Reason(err))
		return mayBeWritten(err), nil
	}
	return true, fmt.Errorf("plan claim %s: %w", claim.Name, err)
}

// TellUnplanned sends an event on a claim that nothing can be launched for, with the
// reasons.
func (r *Reporter) TellUnplanned(claim *karpv1.NodeClaim, s *model.Snapshot, d *decide.Decision) {
	r.tellUnplanned(claim, JoinReasons(lower.ClaimReasons(s, claim, &d.Plan)))
}

func (r *Reporter) tellUnplanned(claim *karpv1.NodeClaim, text string) {
	if r.isNew(types.UID("unplanned/"+string(claim.UID)), text) {
		r.Events.Eventf(claim, nil, corev1.EventTypeWarning, karpv1.EventLaunchFailed, "Plan", "no instance can be launched for it: %s", text)
	}
}
