package lower

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

// setDisruption fills in the node's fields that concern its disruption from the claim's
// conditions, spec and annotations.
func setDisruption(n *model.Node, claim *karpv1.NodeClaim, now time.Time) {
	if c := meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionInitialized); c != nil && c.Status == metav1.ConditionTrue {
		n.InitializedAt = c.LastTransitionTime.UTC()
	}
	if c := meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionDrifted); c != nil && c.Status == metav1.ConditionTrue {
		n.Drifted = c.Reason
	}
	if d, ok := claim.Spec.ExpireAfter.Duration(); ok && !claim.CreationTimestamp.IsZero() {
		n.ExpiresAt = claim.CreationTimestamp.Add(d).UTC()
	}
	n.Noticed = hasNotice(claim, now)
	if g := claim.Spec.TerminationGracePeriod; g != nil {
		n.TerminationGrace = g.Duration
	}
	if at, ok := timeOf(claim.Annotations[karpv1.AnnotationUndone]); ok {
		n.UndoneAt = at
	}
	if bought := boughtOf(claim); bought != nil {
		n.Bought = bought
	}
	if text := claim.Annotations[karpv1.AnnotationReplaces]; text != "" {
		n.Replaces = strings.Split(text, ",")
	}
	n.ForMoved = claim.Annotations[karpv1.AnnotationForMovedPods] == "true"
	if text := claim.Annotations[karpv1.AnnotationDisruption]; text != "" {
		var command model.Command
		if json.Unmarshal([]byte(text), &command) != nil {
			// The command cannot be read and so cannot be continued. A command without
			// nodes is undone.
			command = model.Command{}
		}
		command.Started, _ = writable(command.Started)
		n.Command = &command
	}
}

// noticePeriod is how long before its announced end an instance stops to count against
// spending limits. noticeGrace is how long after that end it counts again: an instance that
// still runs then is treated like any other.
const (
	noticePeriod = 30 * time.Minute
	noticeGrace  = time.Minute
)

// hasNotice reports whether the claim is being deleted because EC2 announced that it
// takes the instance away, and that end is at most noticePeriod ahead and at most noticeGrace
// past. Only the controller writes the annotation; the claim's conditions may be anybody's.
func hasNotice(claim *karpv1.NodeClaim, now time.Time) bool {
	at, err := time.Parse(time.RFC3339, claim.Annotations[karpv1.AnnotationInterrupted])
	return err == nil && !claim.DeletionTimestamp.IsZero() && at.Sub(now) <= noticePeriod && now.Sub(at) <= noticeGrace
}

func isReady(node *corev1.Node) bool {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return len(node.Status.Conditions) == 0 // manifests need not say
}

// isUnready says whether a running pod reports that it is not ready.
func isUnready(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status != corev1.ConditionTrue
		}
	}
	return false
}

func deletionCost(pod *corev1.Pod) int32 {
	text, ok := pod.Annotations[corev1.PodDeletionCost]
	if !ok { // most pods: skip the parse, which would allocate an error
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return int32(n)
}

// podBudgets lowers the PodDisruptionBudgets, sorted by namespace and name.
func (b *builder) podBudgets() {
	for _, pdb := range b.in.PodBudgets {
		b.out.Budgets = append(b.out.Budgets, podBudget(pdb))
	}
	slices.SortFunc(b.out.Budgets, func(x, y model.PodBudget) int {
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
}

// podBudget follows the rules of the eviction API for pods that are not ready: a budget
// with the policy AlwaysAllow lets all of them be evicted, and any other budget does so
// only while enough pods are healthy.
// https://kubernetes.io/docs/tasks/run-application/configure-pdb/#unhealthy-pod-eviction-policy
func podBudget(pdb *policyv1.PodDisruptionBudget) model.PodBudget {
	out := model.PodBudget{
		Namespace: pdb.Namespace, Name: pdb.Name,
		Selector: model.PodSelector{Namespaces: []string{pdb.Namespace}},
		Allowed:  pdb.Status.DisruptionsAllowed,
	}
	always := pdb.Spec.UnhealthyPodEvictionPolicy != nil && *pdb.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
	enough := pdb.Status.DesiredHealthy > 0 && pdb.Status.CurrentHealthy >= pdb.Status.DesiredHealthy
	out.FreesUnready = always || enough
	if pdb.Status.ObservedGeneration < pdb.Generation {
		out.Allowed, out.FreesUnready = 0, always // the disruption controller has not processed this generation
	}
	out.Selector.Labels, out.Selector.Nothing = requirementsOf(pdb.Spec.Selector)
	return out
}

// budgets sets how many nodes each pool may have disrupted now, by reason. As in Karpenter,
// percentages are of the initialized nodes without those whose instance is being
// terminated; of these, nodes that are being deleted or are not ready count as disrupted
// already.
func (b *builder) budgets() {
	total, leaving := make([]int, len(b.out.Pools)), make([]int, len(b.out.Pools))
	for i := range b.out.Nodes {
		n, claim := &b.out.Nodes[i], b.claims[i]
		if n.Pool < 0 || claim == nil || !meta.IsStatusConditionTrue(claim.Status.Conditions, karpv1.ConditionInitialized) ||
			meta.IsStatusConditionTrue(claim.Status.Conditions, karpv1.ConditionInstanceTerminating) {
			continue
		}
		total[n.Pool]++
		if n.State == model.Deleting || n.NotReady {
			leaving[n.Pool]++
		}
	}
	for i, np := range b.nodePools {
		d := &b.out.Pools[i].Disruption
		for _, each := range []struct {
			reason karpv1.DisruptionReason
			into   *int
		}{
			{karpv1.DisruptionEmpty, &d.AllowedEmpty},
			{karpv1.DisruptionUnderutilized, &d.AllowedUnderutilized},
			{karpv1.DisruptionDrifted, &d.AllowedDrifted},
		} {
			n, err := allowedDisruptions(np, each.reason, b.in.Time, total[i], leaving[i])
			if err != nil {
				b.warn("NodePool "+np.Name, "no node may be disrupted: disruption budget: %v", err)
			}
			*each.into = n
		}
	}
}

// IsProtected reports whether the pod's annotation karpenter.sh/do-not-disrupt protects
// it from disruption at the given time.
func IsProtected(pod *corev1.Pod, now time.Time) bool {
	return isProtected(pod.Annotations, started(pod), now)
}

// protectedUntil returns when the annotation's protection ends. It is zero when the
// protection has no end, is over, or was never asked for.
func protectedUntil(pod *corev1.Pod, now time.Time) time.Time {
	if until := DoNotDisruptOf(pod).Until; now.Before(until) {
		return until.UTC()
	}
	return time.Time{}
}

// DoNotDisrupt is the value of an annotation karpenter.sh/do-not-disrupt. The zero value
// protects nothing.
type DoNotDisrupt struct {
	// Forever is protection without an end. Otherwise Until is when it ends, zero for no
	// protection.
	Forever bool
	Until   time.Time
	// Invalid is the text of an annotation that cannot be parsed. It protects nothing.
	Invalid string
}

// DoNotDisruptOf parses the pod's annotation: "true", or a duration counted from the start of
// the pod.
func DoNotDisruptOf(pod *corev1.Pod) DoNotDisrupt {
	return parseDoNotDisrupt(pod.Annotations, started(pod))
}

func parseDoNotDisrupt(annotations map[string]string, start time.Time) DoNotDisrupt {
	text, ok := annotations[karpv1.AnnotationDoNotDisrupt]
	if !ok || text == "false" {
		return DoNotDisrupt{}
	}
	if text == "true" {
		return DoNotDisrupt{Forever: true}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return DoNotDisrupt{Invalid: text}
	}
	return DoNotDisrupt{Until: start.Add(d)}
}
