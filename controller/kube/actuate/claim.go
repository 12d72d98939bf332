// Package actuate turns a decision into API writes: NodeClaims, taints, deletions and
// events. The names of claims derive from the decision, so that applying a decision
// twice has the same result as applying it once.
package actuate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/quantity"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// Claim returns the NodeClaim of node number at of the decision's plan, counted from 0.
func Claim(s *model.Snapshot, pool *karpv1.NodePool, d *decide.Decision, at int) (*karpv1.NodeClaim, error) {
	claim, err := claimOf(s, pool, &d.Plan.Nodes[at], d.ID, model.ClaimName(pool.Name, d.ID, at))
	if err == nil && s.PodsMove() {
		claim.Annotations[karpv1.AnnotationForMovedPods] = "true"
	}
	return claim, err
}

func claimOf(s *model.Snapshot, pool *karpv1.NodePool, n *model.PlannedNode, decision, name string) (*karpv1.NodeClaim, error) {
	template := &pool.Spec.Template
	launch, err := json.Marshal(n.Options)
	if err != nil {
		return nil, fmt.Errorf("encode the options of %s: %w", pool.Name, err)
	}
	pods, announced := plannedPods(s, n.Pods)
	planned, err := json.Marshal(pods)
	if err != nil {
		return nil, fmt.Errorf("encode the pods of %s: %w", pool.Name, err)
	}
	labels, err := json.Marshal(pool.Labels)
	if err != nil {
		return nil, fmt.Errorf("encode the labels of %s: %w", pool.Name, err)
	}
	hash, err := pool.Hash()
	if err != nil {
		return nil, fmt.Errorf("hash NodePool %s: %w", pool.Name, err)
	}
	claim := &karpv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Labels:      map[string]string{},
			Annotations: map[string]string{},
			Finalizers:  []string{karpv1.FinalizerTermination},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: karpv1.GroupVersion.String(), Kind: "NodePool", Name: pool.Name, UID: pool.UID,
				BlockOwnerDeletion: new(true),
			}},
		},
		Spec: karpv1.NodeClaimSpec{
			Taints:                 template.Spec.Taints,
			StartupTaints:          template.Spec.StartupTaints,
			Requirements:           requirements(template.Spec.Requirements, n.Options),
			Resources:              karpv1.ResourceRequirements{Requests: requests(n.Requests)},
			NodeClassRef:           template.Spec.NodeClassRef,
			TerminationGracePeriod: template.Spec.TerminationGracePeriod,
			ExpireAfter:            template.Spec.ExpireAfter,
		},
	}
	maps.Copy(claim.Labels, n.Labels)
	maps.Copy(claim.Labels, template.Metadata.Labels)
	claim.Labels[karpv1.LabelNodePool] = pool.Name
	claim.Labels[awsv1.LabelEC2NodeClass] = template.Spec.NodeClassRef.Name
	maps.Copy(claim.Annotations, template.Metadata.Annotations)
	claim.Annotations[karpv1.AnnotationNodePoolHash] = hash
	claim.Annotations[karpv1.AnnotationNodePoolHashVersion] = karpv1.NodePoolHashVersion
	claim.Annotations[karpv1.AnnotationMinValuesRelaxed] = strconv.FormatBool(s.MinValuesRelaxed(n))
	claim.Annotations[karpv1.AnnotationLaunch] = string(launch)
	claim.Annotations[karpv1.AnnotationPlannedPods] = string(planned)
	if err := setAnnounced(claim.Annotations, announced); err != nil {
		return nil, err
	}
	claim.Annotations[karpv1.AnnotationDecision] = decision
	if len(pool.Labels) > 0 {
		claim.Annotations[karpv1.AnnotationNodePoolLabels] = string(labels)
	}
	claim.Annotations[karpv1.AnnotationReservedUSD] = strconv.FormatFloat((n.Worst() + s.NodeCost(n.Pool)).USD(), 'f', 6, 64)
	return claim, nil
}

// requirements returns the template's requirements, with those on instance type, zone
// and capacity type replaced by the values of the plan's options.
func requirements(template []karpv1.Requirement, options []model.Option) []karpv1.Requirement {
	narrowed := map[string]func(model.Option) string{
		corev1.LabelInstanceTypeStable: func(o model.Option) string { return o.InstanceType },
		corev1.LabelTopologyZone:       func(o model.Option) string { return o.Zone },
		karpv1.LabelCapacityType:       func(o model.Option) string { return string(o.CapacityType) },
	}
	out := slices.DeleteFunc(slices.Clone(template), func(r karpv1.Requirement) bool { return narrowed[r.Key] != nil })
	for _, key := range slices.Sorted(maps.Keys(narrowed)) {
		var values []string
		for _, o := range options {
			if v := narrowed[key](o); !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		out = append(out, karpv1.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values})
	}
	return out
}

// requests are the resource requests of a claim: without amounts of 0, and without
// volumes, which no node reports. It is nil for none, because an empty list is read back
// as nil and a claim's spec may not change.
func requests(in model.Resources) karpv1.ResourceList {
	out := karpv1.ResourceList(quantity.ResourceList(in))
	for name, q := range out {
		if q.IsZero() || model.CountsVolumes(string(name)) {
			delete(out, name)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
