package nodeclass

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

// dryRun asks EC2 whether launches from the class are allowed, and writes the answer. The
// status that the class was resolved to is written already: decisions do not wait for the
// answer, and a class that EC2 says nothing about stays as it is.
func (r *Reconciler) dryRun(ctx context.Context, class *awsv1.EC2NodeClass) error {
	if r.DryRuns == nil || !launchable(class) {
		return nil
	}
	pools, err := r.pools(ctx, class.Name)
	if err != nil {
		return err
	}
	if err := r.DryRuns.Ask(ctx, class, pools); err != nil {
		log.FromContext(ctx).Info("EC2 did not say whether launches are allowed; it is asked again", "EC2NodeClass", class.Name, "error", err.Error())
	}
	return r.write(ctx, class, r.revalidate(class))
}

// launchable reports whether all that a launch needs of the class is known. What EC2 refused
// before does not count: it is asked again.
func launchable(class *awsv1.EC2NodeClass) bool {
	for _, kind := range class.ReadyConditions() {
		c := meta.FindStatusCondition(class.Status.Conditions, kind)
		if c == nil || c.Status != metav1.ConditionTrue && !ofDryRun(c.Reason) {
			return false
		}
	}
	return true
}

// revalidate is the class's status after an answer of EC2.
func (r *Reconciler) revalidate(class *awsv1.EC2NodeClass) awsv1.EC2NodeClassStatus {
	out := *class.Status.DeepCopy()
	c := conditions{list: &out.Conditions, generation: class.Generation, now: r.Clock()}
	// Offline validation has passed, or nothing was asked; a refusal is never handed back.
	_ = c.settle(awsv1.ConditionValidationSucceeded, r.validate(class))
	c.summarize(class.ReadyConditions())
	return out
}

// pools are the requirements of the NodePools that use a class.
func (r *Reconciler) pools(ctx context.Context, class string) ([][]model.Requirement, error) {
	var pools karpv1.NodePoolList
	if err := r.Client.List(ctx, &pools); err != nil {
		return nil, fmt.Errorf("list NodePools of EC2NodeClass %s: %w", class, err)
	}
	var out [][]model.Requirement
	for i := range pools.Items {
		spec := &pools.Items[i].Spec.Template.Spec
		if ref := spec.NodeClassRef; ref.Group != awsv1.Group || ref.Kind != awsv1.Kind || ref.Name != class {
			continue
		}
		var requirements []model.Requirement
		for _, q := range spec.Requirements {
			requirements = append(requirements, model.Requirement{Key: q.Key, Operator: model.Operator(q.Operator), Values: q.Values})
		}
		out = append(out, requirements)
	}
	return out, nil
}
