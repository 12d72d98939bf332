package ceilings

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/condition"
)

// work lets the reconcilers take some steps, in any order: what they do to one
// claim happens between what they do to others, and may stop anywhere.
func (w *cappedCluster) work() {
	for range w.rng.IntN(4 * (1 + len(w.claims))) {
		if len(w.claims) == 0 {
			break
		}
		w.step(pick(w, w.claims...))
	}
	w.bind()
}

// step does the next thing there is to do for a claim: one call to the cloud,
// or one write.
func (w *cappedCluster) step(claim *karpv1.NodeClaim) {
	switch {
	case !claim.DeletionTimestamp.IsZero():
		w.end(claim)
		w.excuse() // pods have moved, or wait
	case condition.IsTrue(claim.Status.Conditions, karpv1.ConditionInitialized):
	case condition.IsTrue(claim.Status.Conditions, karpv1.ConditionLaunched):
		w.join(claim)
		w.excuse()
	default:
		w.launch(claim)
	}
}

// launch prepares, launches, and records, one of them at a time.
func (w *cappedCluster) launch(claim *karpv1.NodeClaim) {
	var attempt provider.Attempt
	if text := claim.Annotations[karpv1.AnnotationAttempt]; text != "" {
		if err := json.Unmarshal([]byte(text), &attempt); err != nil {
			w.fail("read attempt: %v", err)
		}
	}
	if len(attempt.Request) == 0 {
		next, err := w.cloud.Prepare(w.t.Context(), provider.LaunchSpec{
			Claim: claim.Name, NodePool: claim.Labels[karpv1.LabelNodePool], NodeClass: claim.Spec.NodeClassRef.Name,
			Options: options(claim), Ordinal: attempt.Ordinal,
		})
		if err != nil {
			w.fail("prepare: %v", err)
		}
		w.attempt(claim, next)
		return
	}
	var in provider.Instance
	var err error
	if w.chance(12) && w.meter.machines[claim.Name] == nil { // to a token that it has taken EC2 repeats its answer
		err = &provider.Error{Kind: pick(w, provider.Quota, provider.Stale, provider.InsufficientCapacity), Err: errors.New("ordered")}
	} else {
		in, err = w.cloud.Launch(w.t.Context(), attempt)
	}
	if w.meter.machines[claim.Name] == nil {
		w.started(claim)
	}
	switch kind := provider.KindOf(err); {
	case err == nil:
		w.record(claim, &in)
	case kind == provider.InsufficientCapacity:
		w.attempt(claim, provider.Attempt{Ordinal: attempt.Ordinal + 1, Claims: []string{claim.Name}})
		w.delete(claim, "sold out")
	case kind.Definitive():
		w.attempt(claim, provider.Attempt{Ordinal: attempt.Ordinal + 1, Claims: []string{claim.Name}})
	}
}

func (w *cappedCluster) attempt(claim *karpv1.NodeClaim, a provider.Attempt) {
	text, err := json.Marshal(a)
	if err != nil {
		w.fail("write attempt: %v", err)
	}
	claim.Annotations[karpv1.AnnotationAttempt] = string(text)
	if len(a.Request) > 0 {
		claim.Annotations[karpv1.AnnotationAttemptedAt] = w.clock.Now().Format(time.RFC3339)
	}
}

// record writes the labels, and the status only if nothing comes in between:
// then both are written again.
func (w *cappedCluster) record(claim *karpv1.NodeClaim, in *provider.Instance) {
	claim.Labels[corev1.LabelInstanceTypeStable] = in.InstanceType
	claim.Labels[corev1.LabelTopologyZone] = in.Zone
	claim.Labels[karpv1.LabelCapacityType] = string(in.CapacityType)
	if w.chance(3) {
		w.log("%s: labels written, cut off", claim.Name)
		return
	}
	claim.Status.ProviderID = in.ProviderID
	claim.Status.Allocatable = karpv1.ResourceList(listOf(w.typeOf(claim).Allocatable))
	w.set(claim, karpv1.ConditionLaunched)
}

func (w *cappedCluster) set(claim *karpv1.NodeClaim, kind string) {
	condition.True(&claim.Status.Conditions, 1, kind)
	for i := range claim.Status.Conditions {
		if c := &claim.Status.Conditions[i]; c.Type == kind {
			c.LastTransitionTime = metav1.NewTime(w.clock.Now())
		}
	}
}

// join makes the node, and then takes it into use with its planned pods.
func (w *cappedCluster) join(claim *karpv1.NodeClaim) {
	if w.clock.Now().Sub(claim.CreationTimestamp.Time) < 30*time.Second {
		return
	}
	size := w.typeOf(claim)
	if claim.Status.NodeName == "" {
		list := listOf(size.Allocatable)
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: "node-" + claim.Name, Labels: map[string]string{}, CreationTimestamp: metav1.NewTime(w.clock.Now()),
		}}
		maps.Copy(node.Labels, size.Labels)
		maps.Copy(node.Labels, claim.Labels)
		node.Spec.ProviderID = claim.Status.ProviderID
		node.Status.Capacity, node.Status.Allocatable = list, list
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		w.nodes = append(w.nodes, node)
		claim.Status.NodeName = node.Name
		w.set(claim, karpv1.ConditionRegistered)
		return
	}
	w.set(claim, karpv1.ConditionInitialized)
	for _, key := range planned(claim) {
		for _, p := range w.pods {
			if p.Namespace+"/"+p.Name == key && p.Spec.NodeName == "" {
				w.place(p, claim.Status.NodeName)
			}
		}
	}
}

// end is the way of a deleted claim: the node and its pods, the instance, the
// claim.
func (w *cappedCluster) end(claim *karpv1.NodeClaim) {
	if name := claim.Status.NodeName; name != "" {
		w.nodes = slices.DeleteFunc(w.nodes, func(n *corev1.Node) bool { return n.Name == name })
		claim.Status.NodeName = ""
		for _, p := range w.pods { // their successors wait
			if p.Spec.NodeName == name {
				p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
			}
		}
		return
	}
	gone := true
	for _, m := range w.cloud.Machines() {
		if m.Claim != claim.Name {
			continue
		}
		gone = false
		if err := w.cloud.Terminate(w.t.Context(), m.ProviderID); err == nil {
			w.set(claim, karpv1.ConditionInstanceTerminating)
			if w.chance(2) {
				return
			}
		}
	}
	if gone {
		w.claims = slices.DeleteFunc(w.claims, func(c *karpv1.NodeClaim) bool { return c == claim })
		if claim.Annotations[karpv1.AnnotationDisruption] != "" {
			w.excuse() // the last mark of a command that was taken back may go with it
		}
	}
}

func (w *cappedCluster) delete(claim *karpv1.NodeClaim, why string) {
	if claim.DeletionTimestamp.IsZero() {
		now := metav1.NewTime(w.clock.Now())
		claim.DeletionTimestamp = &now
		w.log("%s is deleted: %s", claim.Name, why)
	}
}

func (w *cappedCluster) find(name string) *karpv1.NodeClaim {
	i := slices.IndexFunc(w.claims, func(c *karpv1.NodeClaim) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return w.claims[i]
}

// bind is the scheduler: what fits on a node goes there.
func (w *cappedCluster) bind() {
	free := map[string]model.Resources{}
	for _, c := range w.claims {
		if condition.IsTrue(c.Status.Conditions, karpv1.ConditionInitialized) && c.DeletionTimestamp.IsZero() && c.Annotations[karpv1.AnnotationDisruption] == "" {
			free[c.Status.NodeName] = w.typeOf(c).Allocatable.Clone()
		}
	}
	for _, p := range w.pods {
		if room := free[p.Spec.NodeName]; room != nil {
			take(room, p)
		}
	}
	for _, p := range w.pods {
		for _, node := range w.nodes {
			if room := free[node.Name]; p.Spec.NodeName == "" && room != nil && fits(room, p) {
				take(room, p)
				w.place(p, node.Name)
			}
		}
	}
	w.excuse() // pods that find room are not held back
}

func (w *cappedCluster) place(p *corev1.Pod, node string) {
	p.Spec.NodeName, p.Status.Phase, p.Status.Conditions = node, corev1.PodRunning, nil
}

func requests(p *corev1.Pod) (cpu, memory int64) {
	r := p.Spec.Containers[0].Resources.Requests
	return r.Cpu().MilliValue(), r.Memory().Value()
}

func fits(room model.Resources, p *corev1.Pod) bool {
	cpu, memory := requests(p)
	return room[model.CPU] >= cpu && room[model.Memory] >= memory && room[model.PodSlots] >= 1
}

func take(room model.Resources, p *corev1.Pod) {
	cpu, memory := requests(p)
	room[model.CPU] -= cpu
	room[model.Memory] -= memory
	room[model.PodSlots]--
}
