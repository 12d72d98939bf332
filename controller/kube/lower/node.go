package lower

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/quantity"
	"spokeshave.dev/controller/core/model"
)

// Node lowers a node, its NodeClaim, or both; either may be nil. What the node costs
// (instance type, zone, capacity type, launch) comes from the claim, because a node may
// write its own labels. Fields that depend on
// other objects are left out: Pool (-1), Price, Nominated, and the allocatable of a
// claim that does not state it. now decides whether a timed do-not-disrupt annotation
// still holds.
func Node(node *corev1.Node, claim *karpv1.NodeClaim, now time.Time) model.Node {
	out := model.Node{Pool: -1, State: state(node, claim), Labels: labels(node, claim)}
	if claim != nil {
		out.Name, out.Claim = claim.Name, claim.Name
		out.Taints = taints(claim.Spec.Taints)
		out.Allocatable = quantity.Resources(claim.Status.Allocatable)
		if t := claim.Status.LastPodEventTime; t != nil {
			out.LastPodEvent = t.UTC()
		}
		if isLaunched(claim) {
			out.LaunchedAt = launchedAt(claim)
		} else {
			out.Reserved = reserved(claim)
		}
		out.DoNotDisrupt = isProtected(claim.Annotations, claim.CreationTimestamp.Time, now)
		setDisruption(&out, claim, now)
	}
	if node != nil {
		out.Name = node.Name
		out.Taints = nodeTaints(node)
		if out.State == model.Initialized || out.State == model.Unmanaged || len(out.Allocatable) == 0 {
			out.Allocatable = quantity.Resources(node.Status.Allocatable)
		}
		if out.LaunchedAt.IsZero() {
			out.LaunchedAt = node.CreationTimestamp.UTC()
		}
		out.NotReady = !isReady(node)
		out.DoNotDisrupt = out.DoNotDisrupt || isProtected(node.Annotations, node.CreationTimestamp.Time, now)
	}
	known := out.Labels
	if claim != nil {
		known = claimLabels(claim)
	}
	out.InstanceType = known[corev1.LabelInstanceTypeStable]
	out.Zone = known[corev1.LabelTopologyZone]
	out.CapacityType = model.CapacityType(known[karpv1.LabelCapacityType])
	return out
}

func state(node *corev1.Node, claim *karpv1.NodeClaim) model.NodeState {
	switch {
	case claim != nil && !claim.DeletionTimestamp.IsZero(), node != nil && !node.DeletionTimestamp.IsZero():
		return model.Deleting
	case claim == nil:
		return model.Unmanaged
	case node == nil:
		return model.InFlight
	case meta.IsStatusConditionTrue(claim.Status.Conditions, karpv1.ConditionInitialized):
		return model.Initialized
	default:
		return model.Registered
	}
}

// labels returns the node's labels once the claim is registered. Until then it returns
// those of the claim's single-valued requirements and of the claim, overlaid with those
// of the node.
func labels(node *corev1.Node, claim *karpv1.NodeClaim) map[string]string {
	if claim == nil {
		return node.Labels
	}
	if node != nil && meta.IsStatusConditionTrue(claim.Status.Conditions, karpv1.ConditionRegistered) {
		return node.Labels
	}
	out := claimLabels(claim)
	if node != nil {
		maps.Copy(out, node.Labels)
	}
	return out
}

// claimLabels returns the labels that a claim gives its node: those of its
// single-valued requirements, overlaid with its own.
func claimLabels(claim *karpv1.NodeClaim) map[string]string {
	out := map[string]string{}
	for i := range claim.Spec.Requirements {
		r := &claim.Spec.Requirements[i]
		if r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
			out[normalize(r.Key)] = r.Values[0]
		}
	}
	maps.Copy(out, claim.Labels)
	return out
}

// nodeTaints returns the node's taints, plus the unschedulable taint of a cordoned
// node, which the control plane sets and manifests may lack. The taint of a reservation
// is left out: it lasts for a moment, and room on the node that is not reserved for a
// planned pod can be used.
func nodeTaints(node *corev1.Node) []model.Taint {
	out := taints(slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(t corev1.Taint) bool { return t.Key == karpv1.TaintKeyReserved }))
	cordon := model.Taint{Key: corev1.TaintNodeUnschedulable, Effect: model.NoSchedule}
	if node.Spec.Unschedulable && !slices.Contains(out, cordon) {
		out = append(out, cordon)
	}
	return out
}

// isLaunched reports whether a claim has an instance, as its lifecycle judges it: a provider
// ID is enough, whatever the condition says, since others may write that.
func isLaunched(claim *karpv1.NodeClaim) bool {
	return claim.Status.ProviderID != "" || meta.IsStatusConditionTrue(claim.Status.Conditions, karpv1.ConditionLaunched)
}

// launchedAt returns when EC2 may have begun to bill the instance of a launched claim: when
// the launch attempt that succeeded was written down, or recorded, the time in the status, if
// that is earlier. The time in the status can be late when the controller was not running in
// between. A condition that does not hold has no such time, and the claim's own stands for it.
func launchedAt(claim *karpv1.NodeClaim) time.Time {
	recorded := claim.CreationTimestamp.UTC()
	if c := meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionLaunched); c != nil && c.Status == metav1.ConditionTrue {
		recorded = c.LastTransitionTime.UTC()
	}
	at, ok := timeOf(claim.Annotations[karpv1.AnnotationAttemptedAt])
	if !ok || at.After(recorded) {
		return recorded
	}
	return at
}

func reserved(claim *karpv1.NodeClaim) model.Price {
	usd, err := strconv.ParseFloat(claim.Annotations[karpv1.AnnotationReservedUSD], 64)
	if err != nil {
		return 0
	}
	return model.PriceOf(usd).Bounded()
}

// isProtected says whether the annotation karpenter.sh/do-not-disrupt still holds.
func isProtected(annotations map[string]string, start, now time.Time) bool {
	h := parseDoNotDisrupt(annotations, start)
	return h.Forever || now.Before(h.Until)
}

// options returns the options with which a claim that is not launched yet may be
// launched, nil when its annotation cannot be read.
func options(claim *karpv1.NodeClaim) []model.Option {
	var out []model.Option
	if err := json.Unmarshal([]byte(claim.Annotations[karpv1.AnnotationLaunch]), &out); err != nil {
		return nil
	}
	for i := range out {
		out[i].Price = out[i].Price.Bounded()
	}
	return out
}

// PlannedPods returns the pods that a claim was made for, as namespace/name.
func PlannedPods(claim *karpv1.NodeClaim) []string {
	var out []string
	if err := json.Unmarshal([]byte(claim.Annotations[karpv1.AnnotationPlannedPods]), &out); err != nil {
		return nil
	}
	return out
}

// setCommonFields fills in a claim in flight from the options with which it may be launched.
// Type, zone, capacity type and labels are set where all options agree; allocatable is
// the smallest of all options, resource by resource.
func setCommonFields(n *model.Node, opts []model.Option, types map[string]*model.InstanceType) {
	first := true
	for _, o := range opts {
		t := types[o.InstanceType]
		if t == nil {
			continue
		}
		if first {
			first = false
			n.InstanceType, n.Zone, n.CapacityType = o.InstanceType, o.Zone, o.CapacityType
			n.Allocatable = t.Allocatable.Clone()
			n.Labels = maps.Clone(n.Labels)
			for k, v := range t.Labels {
				if _, own := n.Labels[k]; !own {
					n.Labels[k] = v
				}
			}
			continue
		}
		clearDifferences(n, &o, t)
	}
}

// clearDifferences clears the fields of n in which the option differs, and lowers n's allocatable
// to that of the option's type.
func clearDifferences(n *model.Node, o *model.Option, t *model.InstanceType) {
	if n.InstanceType != o.InstanceType {
		n.InstanceType = ""
	}
	if n.Zone != o.Zone {
		n.Zone = ""
	}
	if n.CapacityType != o.CapacityType {
		n.CapacityType = ""
	}
	for name, have := range n.Allocatable {
		n.Allocatable[name] = min(have, t.Allocatable[name])
	}
	for k, v := range n.Labels {
		if other, ok := t.Labels[k]; ok && other != v {
			delete(n.Labels, k)
		}
	}
}
