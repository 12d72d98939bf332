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
)

// Plan writes on a claim that no decision made the options with which it may be launched,
// and what they reserve. d has one planned node, which stands for the claim. A claim that
// was changed since it was read is left for the next decision.
func (a *Actuator) Plan(ctx context.Context, claim *karpv1.NodeClaim, s *model.Snapshot, d *decide.Decision) error {
	n := &d.Plan.Nodes[0]
	launch, err := json.Marshal(n.Options)
	if err != nil {
		return fmt.Errorf("encode the options of %s: %w", claim.Name, err)
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
			return fmt.Errorf("encode the labels of NodePool %s: %w", s.Pools[n.Pool].Name, err)
		}
		planned.Annotations[karpv1.AnnotationNodePoolLabels] = string(text)
	}
	err = a.Client.Patch(ctx, planned, client.MergeFromWithOptions(claim, client.MergeFromWithOptimisticLock{}))
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("plan claim %s: %w", claim.Name, err)
	}
	return nil
}

// TellUnplanned sends an event on a claim that nothing can be launched for, with the
// reasons.
func (r *Reporter) TellUnplanned(claim *karpv1.NodeClaim, s *model.Snapshot, d *decide.Decision) {
	if text := JoinReasons(lower.ClaimReasons(s, claim, &d.Plan)); r.isNew(types.UID("unplanned/"+string(claim.UID)), text) {
		r.Events.Eventf(claim, nil, corev1.EventTypeWarning, karpv1.EventLaunchFailed, "Plan", "no instance can be launched for it: %s", text)
	}
}
