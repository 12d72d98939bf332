package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/cloud/quantity"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/kube/metric"
	"spokeshave.dev/controller/kube/reconcile/configmap"
)

// launchRetry is how long a claim waits after an error that is not about capacity,
// before a new attempt. launchRepeat is how long it waits before it repeats the same
// attempt, when its outcome is unknown, and before a new one, when nothing was asked of the cloud.
const (
	launchRetry  = 10 * time.Second
	launchRepeat = 2 * time.Second
)

// launch makes sure that the claim has an instance. It writes the attempt on the claim
// before it calls the provider. Whatever fails in between, the same request is then
// repeated, and at most one instance starts. A claim with an instance is launched, and one
// without is not, whatever its condition says: others may write that.
func (r *Reconciler) launch(ctx context.Context, claim *karpv1.NodeClaim) (done bool, wait time.Duration, err error) {
	if claim.Status.ProviderID != "" {
		if !condition.IsTrue(claim.Status.Conditions, karpv1.ConditionLaunched) {
			condition.True(&claim.Status.Conditions, claim.Generation, karpv1.ConditionLaunched)
		}
		return true, 0, nil
	}
	if claim.Annotations[karpv1.AnnotationLaunchGroup] == "" && claim.Annotations[karpv1.AnnotationAttempt] == "" {
		if done, wait, err := r.takeOver(ctx, claim); done || wait > 0 || err != nil {
			return done, wait, err
		}
	}
	attempt, repeated, err := r.attempt(ctx, claim)
	if err == nil {
		var instance provider.Instance
		if instance, err = r.Provider.Launch(ctx, attempt); err == nil {
			if r.OnLaunch != nil {
				r.OnLaunch()
			}
			return true, 0, r.launched(ctx, claim, &instance)
		}
	}
	if apierrors.IsConflict(err) { // the cache did not show the newest version of the claim
		return false, 0, err
	}
	if gone, failed := r.launchFailed(ctx, claim, repeated, err); gone || failed != nil {
		return false, 0, failed
	}
	left, late := r.launchOverdue(ctx, claim, err)
	return false, min(launchAgain(err), left), late
}

// launchAgain returns how long a claim waits after a launch that failed with the error.
func launchAgain(err error) time.Duration {
	if provider.Untried(err) || !provider.KindOf(err).Definitive() {
		return launchRepeat
	}
	return launchRetry
}

// attempt returns the attempt that is written on the claim, or a new one, which it
// writes first. repeated says that it was written before, and so may have been carried
// out already.
func (r *Reconciler) attempt(ctx context.Context, claim *karpv1.NodeClaim) (attempt provider.Attempt, repeated bool, err error) {
	if attempt, err = recorded(claim); err != nil {
		return attempt, false, &provider.Error{Kind: provider.Invalid, Err: err}
	}
	if len(attempt.Request) > 0 {
		return attempt, true, nil
	}
	spec, err := launchSpec(claim)
	if err != nil {
		return attempt, false, &provider.Error{Kind: provider.Invalid, Err: err}
	}
	spec.Ordinal = attempt.Ordinal
	if attempt, err = r.Provider.Prepare(ctx, spec); err != nil {
		return attempt, false, err
	}
	return attempt, false, r.writeAttempt(ctx, claim, attempt)
}

// mostAttempts is the highest number of an attempt that is read. It is far from the end of int,
// because the next attempt gets the next number.
const mostAttempts = 1 << 30

// recorded returns the attempt that is written on the claim, the zero value when none is.
func recorded(claim *karpv1.NodeClaim) (attempt provider.Attempt, err error) {
	text := claim.Annotations[karpv1.AnnotationAttempt]
	if text == "" {
		return attempt, nil
	}
	if err := json.Unmarshal([]byte(text), &attempt); err != nil {
		return provider.Attempt{}, fmt.Errorf("read annotation %s: %w", karpv1.AnnotationAttempt, err)
	}
	if n := attempt.Ordinal; n < 0 || n > mostAttempts {
		return provider.Attempt{}, fmt.Errorf("read annotation %s: ordinal %d: want 0 to %d", karpv1.AnnotationAttempt, n, mostAttempts)
	}
	return attempt, nil
}

// Written returns the attempt that is written on a claim, the zero value when none is, read
// with the reader. The error has kind NotFound when the claim is gone or being deleted.
func Written(ctx context.Context, from client.Reader, name string) (provider.Attempt, error) {
	claim := &karpv1.NodeClaim{}
	err := from.Get(ctx, client.ObjectKey{Name: name}, claim)
	switch {
	case apierrors.IsNotFound(err):
		return provider.Attempt{}, &provider.Error{Kind: provider.NotFound, Err: err}
	case err != nil:
		return provider.Attempt{}, fmt.Errorf("read claim %s: %w", name, err)
	case !claim.DeletionTimestamp.IsZero():
		return provider.Attempt{}, &provider.Error{Kind: provider.NotFound, Err: fmt.Errorf("claim %s is being deleted", name)}
	}
	return recorded(claim)
}

func (r *Reconciler) writeAttempt(ctx context.Context, claim *karpv1.NodeClaim, attempt provider.Attempt) error {
	text, err := json.Marshal(attempt)
	if err != nil {
		return fmt.Errorf("encode attempt of %s: %w", claim.Name, err)
	}
	return r.patchMeta(ctx, claim, func() {
		maps.Copy(claim.Annotations, attempt.Annotations)
		maps.Copy(claim.Labels, attempt.Labels)
		claim.Annotations[karpv1.AnnotationAttempt] = string(text)
		if len(attempt.Request) > 0 {
			claim.Annotations[karpv1.AnnotationAttemptedAt] = r.Clock.Now().UTC().Format(time.RFC3339)
		}
	})
}

// patchMeta writes a change of the claim's metadata, and keeps the status that was
// computed so far in memory.
func (r *Reconciler) patchMeta(ctx context.Context, claim *karpv1.NodeClaim, change func()) error {
	status := claim.Status.DeepCopy()
	base := claim.DeepCopy()
	if claim.Annotations == nil {
		claim.Annotations = map[string]string{}
	}
	if claim.Labels == nil {
		claim.Labels = map[string]string{}
	}
	change()
	err := r.Client.Patch(ctx, claim, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	claim.Status = *status
	if err != nil {
		return fmt.Errorf("patch %s: %w", claim.Name, err)
	}
	return nil
}

// launchSpec returns what to launch for the claim.
func launchSpec(claim *karpv1.NodeClaim) (provider.LaunchSpec, error) {
	spec := provider.LaunchSpec{
		Claim:     claim.Name,
		NodePool:  claim.Labels[karpv1.LabelNodePool],
		NodeClass: claim.Spec.NodeClassRef.Name,
		Labels:    nodeLabels(claim),
		Group:     provider.ParseGroup(claim.Annotations[karpv1.AnnotationLaunchGroup]),
	}
	if err := json.Unmarshal([]byte(claim.Annotations[karpv1.AnnotationLaunch]), &spec.Options); err != nil {
		return spec, fmt.Errorf("read annotation %s of %s: %w", karpv1.AnnotationLaunch, claim.Name, err)
	}
	if len(spec.Options) == 0 {
		return spec, fmt.Errorf("annotation %s of %s lists no offering", karpv1.AnnotationLaunch, claim.Name)
	}
	chosen, problem := lower.ChosenLabels(claim.Spec.Requirements)
	if problem != "" {
		return spec, fmt.Errorf("requirements of %s: %s", claim.Name, problem)
	}
	maps.Copy(spec.Labels, chosen)
	spec.Requests = quantity.Resources(claim.Spec.Resources.Requests)
	spec.Taints = taints(claim.Spec.Taints)
	spec.StartupTaints = taints(claim.Spec.StartupTaints)
	return spec, nil
}

// nodeLabels returns the labels of the node: those of the claim, which include the
// pool's template, and those that a requirement fixes to one value.
func nodeLabels(claim *karpv1.NodeClaim) map[string]string {
	out := maps.Clone(claim.Labels)
	if out == nil {
		out = map[string]string{}
	}
	for i := range claim.Spec.Requirements {
		req := &claim.Spec.Requirements[i]
		if req.Operator == corev1.NodeSelectorOpIn && len(req.Values) == 1 {
			out[req.Key] = req.Values[0]
		}
	}
	return out
}

func taints(in []corev1.Taint) []model.Taint {
	out := make([]model.Taint, 0, len(in))
	for _, t := range in {
		out = append(out, model.Taint{Key: t.Key, Value: t.Value, Effect: model.TaintEffect(t.Effect)})
	}
	return out
}

// launched writes the instance on the claim: what belongs to its metadata first. After an error the
// claim still has no instance, and the launch is made again, which finds the same one.
func (r *Reconciler) launched(ctx context.Context, claim *karpv1.NodeClaim, in *provider.Instance) error {
	catalog, err := r.Provider.Catalog(ctx, claim.Spec.NodeClassRef.Name)
	if err != nil {
		return fmt.Errorf("look up %s: %w", in.InstanceType, err)
	}
	at := slices.IndexFunc(catalog.Types, func(t model.InstanceType) bool { return t.Name == in.InstanceType })
	labels := map[string]string{}
	if at >= 0 {
		maps.Copy(labels, catalog.Types[at].Labels)
	}
	chosen, _ := lower.ChosenLabels(claim.Spec.Requirements) // judged before the launch
	maps.Copy(labels, chosen)
	maps.Copy(labels, in.Labels)
	labels[corev1.LabelInstanceTypeStable] = in.InstanceType
	labels[corev1.LabelTopologyZone] = in.Zone
	labels[karpv1.LabelCapacityType] = string(in.CapacityType)
	if in.ZoneID != "" {
		labels[labelZoneID] = in.ZoneID
	}
	// The reserved highest cost stays on the claim: it counts until the condition
	// Launched, which is written after the labels, is true.
	bought := boughtAt(claim, in, catalog.NodeCost)
	if err := r.patchMeta(ctx, claim, func() {
		maps.Copy(claim.Labels, labels)
		if bought != "" {
			claim.Annotations[karpv1.AnnotationBought] = bought
		}
	}); err != nil {
		return err
	}
	status := &claim.Status
	status.ProviderID, status.ImageID = in.ProviderID, in.ImageID
	if at >= 0 {
		requested := func(name string) bool { _, ok := claim.Spec.Resources.Requests[corev1.ResourceName(name)]; return ok }
		t := &catalog.Types[at]
		status.Capacity = karpv1.ResourceList(quantity.ResourceList(provider.WithoutUnrequested(t.Capacity, requested)))
		status.Allocatable = karpv1.ResourceList(quantity.ResourceList(provider.WithoutUnrequested(t.Allocatable, requested)))
	}
	condition.True(&status.Conditions, claim.Generation, karpv1.ConditionLaunched)
	logr.FromContextOrDiscard(ctx).Info("instance is launched", "claim", claim.Name, "instance", in.ProviderID,
		"instanceType", in.InstanceType, "zone", in.Zone, "capacityType", in.CapacityType)
	return nil
}

// boughtAt returns what the decision expected the instance to cost, as JSON, "" when
// the instance is none of the claim's options. extra is what its volumes and address cost.
func boughtAt(claim *karpv1.NodeClaim, in *provider.Instance, extra model.Price) string {
	var options []model.Option
	if json.Unmarshal([]byte(claim.Annotations[karpv1.AnnotationLaunch]), &options) != nil {
		return ""
	}
	bought := model.BoughtAs(options, in.InstanceType, in.Zone, in.CapacityType)
	if bought == nil {
		return ""
	}
	bought.Extra = extra
	text, err := json.Marshal(bought)
	if err != nil {
		return ""
	}
	return string(text)
}

const labelZoneID = "topology.k8s.aws/zone-id"

// launchFailed updates the claim after a failed launch. For a repeated attempt, some
// errors do not tell what the first call did, because EC2 returns them before it looks
// at the request's token. The identical request is then repeated, since a new one could
// start a second instance. gone says that the claim was deleted, since only another plan
// can serve its pods.
func (r *Reconciler) launchFailed(ctx context.Context, claim *karpv1.NodeClaim, repeated bool, cause error) (gone bool, err error) { //nolint:revive // a fact about the attempt, not a mode
	kind := provider.KindOf(cause)
	if kind == provider.Quota && !namesOfferings(cause) {
		kind = provider.Invalid // no other plan avoids it, such as a quota on launch templates
	}
	// Unknown, not False: Karpenter waits for every claim that is neither launched nor
	// unknown before it trusts its view of the cluster, and so would wait for ever.
	condition.Unknown(&claim.Status.Conditions, claim.Generation, karpv1.ConditionLaunched, "LaunchFailed", cause.Error())
	switch kind {
	case provider.InsufficientCapacity, provider.Quota:
		r.Events.Eventf(claim, nil, corev1.EventTypeWarning, karpv1.EventInsufficientCapacityError, "Launch", "%s", cause.Error())
		if kind == provider.Quota {
			r.tellPool(ctx, claim, cause)
		}
		return true, r.abandon(ctx, claim, "insufficient_capacity", cause.Error())
	case provider.ClassNotReady:
		r.Events.Eventf(claim, nil, corev1.EventTypeWarning, karpv1.EventNodeClassNotReady, "Launch", "%s", cause.Error())
		return true, r.abandon(ctx, claim, "nodeclass_not_ready", cause.Error())
	case provider.Unauthorized, provider.Invalid, provider.NotFound:
		r.Events.Eventf(claim, nil, corev1.EventTypeWarning, karpv1.EventLaunchFailed, "Launch", "%s", cause.Error())
		if repeated {
			return false, nil
		}
		return false, r.reopen(ctx, claim)
	case provider.Stale:
		return false, r.reopen(ctx, claim)
	case provider.Throttled, provider.Unavailable:
		return false, nil // the identical request is repeated
	default:
		return false, nil
	}
}

// tellPool tells the author of the claim's NodePool what only a person can mend, although
// the pods may find other capacity.
func (r *Reconciler) tellPool(ctx context.Context, claim *karpv1.NodeClaim, cause error) {
	pool := &karpv1.NodePool{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: claim.Labels[karpv1.LabelNodePool]}, pool); err != nil {
		return // there is nobody to tell
	}
	r.Events.Eventf(pool, nil, corev1.EventTypeWarning, karpv1.EventQuotaExceeded, "Launch", "%s", cause.Error())
}

// namesOfferings says whether a failure tells which offerings cannot be had, so that the
// pods can be planned without them.
func namesOfferings(cause error) bool {
	known, ok := errors.AsType[*provider.Error](cause)
	return ok && len(known.Offerings) > 0
}

// reopen ends the attempt and writes the next one, with the next number.
func (r *Reconciler) reopen(ctx context.Context, claim *karpv1.NodeClaim) error {
	// No instance is known from an attempt that cannot be read. Numbering continues
	// from zero, and garbage collection terminates an instance that it may have
	// started.
	attempt, _ := recorded(claim)
	return r.writeAttempt(ctx, claim, provider.Attempt{Ordinal: attempt.Ordinal + 1, Claims: []string{claim.Name}})
}

// abandon deletes the claim, so that its pods are planned again without the offerings
// that were sold out. It ends the attempt first, so that spending limits no longer
// count a launch that will not happen; a claim that the API server does not let be changed is
// deleted all the same. The claim counts as disrupted for the reason once
// the API server has accepted the deletion.
func (r *Reconciler) abandon(ctx context.Context, claim *karpv1.NodeClaim, reason, why string) error {
	err := r.reopen(ctx, claim)
	if err == nil || configmap.Refused(err) {
		err = r.Client.Delete(ctx, claim, client.Preconditions{UID: &claim.UID})
	}
	switch {
	case err == nil:
		r.Metrics.Disrupted(metric.SubjectOf(claim.Labels), reason)
		logr.FromContextOrDiscard(ctx).Info("launch is given up", "claim", claim.Name, "reason", reason, "because", why)
		return nil
	case apierrors.IsNotFound(err):
		return nil
	}
	return fmt.Errorf("delete %s (%s): %w", claim.Name, reason, err)
}
