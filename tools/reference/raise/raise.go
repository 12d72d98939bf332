package raise

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/tools/reference/oracle"
)

// World is the snapshot as Karpenter sees it. The snapshot must be normalized.
func World(s *model.Snapshot) *oracle.World {
	w := &oracle.World{Time: s.Time, Settings: s.Settings, Types: oracle.TypesOf(s)}
	if w.Time.IsZero() {
		w.Time = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	}
	namespaces := map[string]bool{}
	add := func(o client.Object) {
		w.Objects = append(w.Objects, o)
		if ns := o.GetNamespace(); ns != "" {
			namespaces[ns] = true
		}
	}
	for i := range s.Pools {
		add(pool(&s.Pools[i]))
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Pool >= 0 {
			add(claim(s, n, w.Time))
		}
		if n.State != model.InFlight {
			add(node(s, n))
		}
	}
	for i := range s.Daemons {
		add(daemon(&s.Daemons[i]))
	}
	for i := range s.Pods {
		if p := pod(s, int32(i)); p != nil {
			add(p)
		}
	}
	for i := range s.Budgets {
		add(evictionBudget(&s.Budgets[i]))
	}
	for ns := range namespaces {
		add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns, Labels: map[string]string{corev1.LabelMetadataName: ns}}})
	}
	return w
}

// daemon is a DaemonSet.
func daemon(d *model.DaemonSet) *appsv1.DaemonSet {
	out := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: d.Spec.Namespace, Name: d.Name, UID: types.UID("daemonset-" + d.Name)}}
	out.Spec.Template.Labels = d.Spec.Labels
	out.Spec.Template.Spec = podSpec(&d.Spec)
	return out
}

// evictionBudget is a PodDisruptionBudget.
func evictionBudget(b *model.PodBudget) *policyv1.PodDisruptionBudget {
	out := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: b.Name}}
	out.Spec.Selector = selector(&b.Selector)
	out.Spec.MaxUnavailable = new(intstr.FromInt32(max(1, b.Allowed)))
	if b.FreesUnready {
		out.Spec.UnhealthyPodEvictionPolicy = new(policyv1.AlwaysAllow)
	}
	out.Status.DisruptionsAllowed = b.Allowed
	return out
}

// pod is a pod of the snapshot: pending, running, or running and controlled by a
// DaemonSet.
func pod(s *model.Snapshot, i int32) *corev1.Pod {
	p := &s.Pods[i]
	spec := &s.Specs[p.Spec]
	out := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: spec.Namespace, Name: p.Name, UID: types.UID(fmt.Sprintf("pod-%06d", i)), Labels: spec.Labels, CreationTimestamp: metav1.NewTime(p.Created),
		},
		Spec: podSpec(spec),
	}
	owner := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "workload", UID: "workload", Controller: new(true)}
	if p.Daemon {
		owner.Kind, owner.Name = "DaemonSet", "daemons"
	}
	out.Annotations = map[string]string{}
	if p.DoNotDisrupt {
		out.Annotations[karpv1.DoNotDisruptAnnotationKey] = "true"
	}
	if p.DeletionCost != 0 {
		out.Annotations[corev1.PodDeletionCost] = fmt.Sprint(p.DeletionCost)
	}
	out.OwnerReferences = []metav1.OwnerReference{owner}
	if p.Node < 0 {
		out.Status.Phase = corev1.PodPending
		out.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
		return out
	}
	if s.Nodes[p.Node].State == model.InFlight {
		return nil // a pod cannot run where there is no node yet
	}
	out.Spec.NodeName = s.Nodes[p.Node].Name
	out.Status.Phase = corev1.PodRunning
	return out
}
