package lower

import (
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apilabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

// replacementLead is how long before a node ends a replacement is planned for the pods
// that nothing evicts from it. It is longer than nodes take to become ready.
const replacementLead = 10 * time.Minute

// unevictable finds the pods that stay on nodes that are being deleted.
type unevictable struct {
	b *builder
	// byNamespace are the PodDisruptionBudgets; nil until the first pod asks.
	byNamespace map[string][]evictionGuard
}

// evictionGuard is a PodDisruptionBudget and its selector. never says that it allows no
// eviction whatever the number of healthy pods is.
type evictionGuard struct {
	budget   *policyv1.PodDisruptionBudget
	selector apilabels.Selector
	never    bool
}

// has reports whether the pod is on a node that is being deleted and leaves it only when
// it ends: do-not-disrupt or its PodDisruptionBudgets keep it from being evicted, and the
// node has time. A place for it would stay empty for as long as the pod runs.
func (u *unevictable) has(pod *corev1.Pod, node int32) bool {
	b := u.b
	if b.out.Nodes[node].State != model.Deleting || !pod.DeletionTimestamp.IsZero() || b.endsSoon(b.claims[node]) {
		return false
	}
	return IsProtected(pod, b.in.Time) || !toleratesDisruption(pod) && u.guarded(pod)
}

// endsSoon reports whether the claim's instance ends within replacementLead, whatever
// runs on it: by its terminationGracePeriod or because EC2 takes it back.
func (b *builder) endsSoon(claim *karpv1.NodeClaim) bool {
	if claim == nil {
		return false
	}
	end, err := time.Parse(time.RFC3339, claim.Annotations[karpv1.AnnotationTerminationTimestamp])
	if err != nil {
		if claim.Spec.TerminationGracePeriod == nil || claim.DeletionTimestamp.IsZero() {
			return false
		}
		end = claim.DeletionTimestamp.Add(claim.Spec.TerminationGracePeriod.Duration)
	}
	return end.Sub(b.in.Time) <= replacementLead
}

// guarded reports whether PodDisruptionBudgets never let the pod be evicted. The Eviction
// API refuses pods with more than one.
func (u *unevictable) guarded(pod *corev1.Pod) bool {
	if u.byNamespace == nil {
		u.byNamespace = map[string][]evictionGuard{}
		for _, pdb := range u.b.in.PodBudgets {
			if selector, err := metav1.LabelSelectorAsSelector(pdb.Spec.Selector); err == nil {
				u.byNamespace[pdb.Namespace] = append(u.byNamespace[pdb.Namespace], evictionGuard{pdb, selector, allowsNone(&pdb.Spec)})
			}
		}
	}
	matching, never := 0, false
	for i := range u.byNamespace[pod.Namespace] {
		g := &u.byNamespace[pod.Namespace][i]
		if !g.selector.Matches(apilabels.Set(pod.Labels)) {
			continue
		}
		matching++
		always := g.budget.Spec.UnhealthyPodEvictionPolicy != nil && *g.budget.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
		never = g.never && (!always || !isUnready(pod))
	}
	return matching > 1 || never
}

// allowsNone reports whether a budget says that no pod may ever be evicted.
func allowsNone(spec *policyv1.PodDisruptionBudgetSpec) bool {
	switch {
	case spec.MaxUnavailable != nil:
		return *spec.MaxUnavailable == intstr.FromInt32(0) || *spec.MaxUnavailable == intstr.FromString("0%")
	case spec.MinAvailable != nil:
		return *spec.MinAvailable == intstr.FromString("100%")
	}
	return false
}

// toleratesDisruption reports whether the pod tolerates the taint of nodes that are being
// removed. Such pods are not evicted, and end with their node.
func toleratesDisruption(pod *corev1.Pod) bool {
	taint := karpv1.DisruptedTaint()
	return slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool { return t.ToleratesTaint(logr.Discard(), &taint, false) })
}
