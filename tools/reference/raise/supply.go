package raise

import (
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/tools/reference/oracle"
)

func pool(p *model.Pool) *karpv1.NodePool {
	out := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: p.Name, UID: types.UID("pool-" + p.Name), Labels: p.Labels}}
	if p.Weight > 0 {
		out.Spec.Weight = new(p.Weight)
	}
	t := &out.Spec.Template
	t.Labels = p.NodeLabels
	t.Spec.NodeClassRef = &karpv1.NodeClassReference{Group: oracle.ClassGroup, Kind: oracle.ClassKind, Name: p.NodeClass}
	t.Spec.Taints, t.Spec.StartupTaints = taints(p.Taints), taints(p.StartupTaints)
	for _, r := range p.Requirements {
		x := karpv1.NodeSelectorRequirementWithMinValues{Key: r.Key, Operator: corev1.NodeSelectorOperator(r.Operator), Values: r.Values}
		if r.MinValues > 0 {
			x.MinValues = new(r.MinValues)
		}
		t.Spec.Requirements = append(t.Spec.Requirements, x)
	}
	if len(p.Limits) > 0 {
		out.Spec.Limits = karpv1.Limits(oracle.Quantities(p.Limits))
	}
	d := &out.Spec.Disruption
	d.ConsolidationPolicy = karpv1.ConsolidationPolicy(p.Disruption.Policy)
	if !p.Disruption.Never {
		d.ConsolidateAfter.Duration = new(p.Disruption.ConsolidateAfter)
	}
	d.Budgets = budgets(&p.Disruption)
	out.Spec.Replicas = p.Replicas
	if p.NotReady == "" {
		out.StatusConditions().SetTrue(karpv1.ConditionTypeValidationSucceeded)
		out.StatusConditions().SetTrue(karpv1.ConditionTypeNodeClassReady)
	}
	return out
}

// budgets let as many nodes go as the snapshot says, by reason.
func budgets(d *model.Disruption) []karpv1.Budget {
	each := func(reason karpv1.DisruptionReason, n int) karpv1.Budget {
		return karpv1.Budget{Nodes: fmt.Sprint(n), Reasons: []karpv1.DisruptionReason{reason}}
	}
	return []karpv1.Budget{
		each(karpv1.DisruptionReasonEmpty, d.AllowedEmpty), each(karpv1.DisruptionReasonUnderutilized, d.AllowedUnderutilized),
		each(karpv1.DisruptionReasonDrifted, d.AllowedDrifted),
	}
}

func taints(in []model.Taint) []corev1.Taint {
	var out []corev1.Taint
	for _, t := range in {
		out = append(out, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	return out
}

// claim is the NodeClaim of a node, as far as its state says.
func claim(s *model.Snapshot, n *model.Node, now time.Time) *karpv1.NodeClaim {
	p := &s.Pools[n.Pool]
	out := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: n.Claim, UID: types.UID(n.Claim), Labels: maps.Clone(n.Labels), Finalizers: []string{karpv1.TerminationFinalizer},
		CreationTimestamp: metav1.NewTime(now.Add(-time.Hour)),
	}}
	delete(out.Labels, corev1.LabelHostname)
	out.Spec.NodeClassRef = &karpv1.NodeClassReference{Group: oracle.ClassGroup, Kind: oracle.ClassKind, Name: p.NodeClass}
	out.Spec.Taints, out.Spec.StartupTaints = taints(n.Taints), taints(p.StartupTaints)
	out.Status.ProviderID, out.Status.NodeName = providerID(n), n.Name
	out.Status.Capacity, out.Status.Allocatable = oracle.Quantities(capacityOf(s, n)), oracle.Quantities(n.Allocatable)
	conditions := out.StatusConditions()
	conditions.SetTrue(karpv1.ConditionTypeLaunched)
	if n.State != model.InFlight {
		conditions.SetTrue(karpv1.ConditionTypeRegistered)
	}
	if n.State == model.Initialized || n.State == model.Deleting {
		conditions.SetTrue(karpv1.ConditionTypeInitialized)
		if d := &p.Disruption; !d.Never && !n.LastPodEvent.Add(d.ConsolidateAfter).After(now) {
			conditions.SetTrue(karpv1.ConditionTypeConsolidatable)
		}
	}
	if !n.LastPodEvent.IsZero() {
		out.Status.LastPodEventTime = metav1.NewTime(n.LastPodEvent)
	}
	if n.State == model.Deleting {
		out.DeletionTimestamp = new(metav1.NewTime(now))
	}
	return out
}

func node(s *model.Snapshot, n *model.Node) *corev1.Node {
	out := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, UID: types.UID(n.Name), Labels: maps.Clone(n.Labels)}}
	out.Spec.ProviderID, out.Spec.Taints = providerID(n), taints(n.Taints)
	out.Status.Capacity, out.Status.Allocatable = oracle.Quantities(capacityOf(s, n)), oracle.Quantities(n.Allocatable)
	out.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if n.DoNotDisrupt {
		out.Annotations = map[string]string{karpv1.DoNotDisruptAnnotationKey: "true"}
	}
	if n.Pool >= 0 {
		out.Labels[karpv1.NodeRegisteredLabelKey] = "true"
		if n.State == model.Initialized || n.State == model.Deleting {
			out.Labels[karpv1.NodeInitializedLabelKey] = "true"
		}
	}
	return out
}

func providerID(n *model.Node) string { return "reference:///" + n.Name }
