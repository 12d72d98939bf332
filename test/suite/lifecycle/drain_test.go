package lifecycle

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/reconcile/termination"
)

// lodge puts a pod on a claim's node.
func (w *launchingCluster) lodge(t *testing.T, claim, name string, change func(*corev1.Pod)) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			NodeName: "node-" + claim, TerminationGracePeriodSeconds: new(int64),
			Containers: []corev1.Container{{Name: "main", Image: "example.com/app:1"}},
		},
	}
	change(pod)
	w.create(t, pod)
	w.eventually(t, "the cache to show pod "+name, func() bool { return w.lodges(t, name) })
}

func (w *launchingCluster) lodges(t *testing.T, name string) bool {
	t.Helper()
	p := &corev1.Pod{}
	err := w.client.Get(t.Context(), types.NamespacedName{Namespace: "default", Name: name}, p)
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil && p.DeletionTimestamp.IsZero()
}

// owned makes an object of the kind the pod's controller.
func owned(kind string) func(*corev1.Pod) {
	yes := true
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: kind, Name: "owner", UID: "1", Controller: &yes}}
	}
}

// drains looks at a node some times, as its reconciler does every second, and fails
// when the node does not wait.
func (w *launchingCluster) drains(t *testing.T, claim string) {
	t.Helper()
	r := &termination.Reconciler{Client: w.client, Provider: w.cloud, Events: w.events, Clock: clock.RealClock{}}
	for range 3 {
		if next, err := r.Reconcile(t.Context(), w.getNode(t, "node-"+claim)); err != nil || next.RequeueAfter == 0 {
			t.Errorf("%s does not wait: look again in %s (%v)", claim, next.RequeueAfter, err)
		}
	}
}

func (w *launchingCluster) delete(t *testing.T, claim string) {
	t.Helper()
	if err := w.client.Delete(t.Context(), w.getClaim(t, claim)); err != nil {
		t.Fatal(err)
	}
	w.eventually(t, "node-"+claim+" to be deleted", func() bool { return !w.getNode(t, "node-"+claim).DeletionTimestamp.IsZero() })
}

// gone waits for the end of claim, node and instance.
func (w *launchingCluster) gone(t *testing.T, claim string) {
	t.Helper()
	w.eventually(t, "the end of "+claim, func() bool {
		return w.getClaim(t, claim) == nil && w.getNode(t, "node-"+claim) == nil && w.living(claim) == 0
	})
}

// says waits for a condition of the claim with status and reason.
func (w *launchingCluster) says(t *testing.T, claim, kind string, status metav1.ConditionStatus, reason string) {
	t.Helper()
	w.eventually(t, "condition "+kind+" of "+claim+" to be "+string(status)+", "+reason, func() bool {
		c := w.getClaim(t, claim)
		if c == nil {
			t.Fatalf("%s is gone and never said %s %s %s", claim, kind, status, reason)
		}
		x := meta.FindStatusCondition(c.Status.Conditions, kind)
		return x != nil && x.Status == status && x.Reason == reason
	})
}

// inOrder: workload leaves before DaemonSets' pods, and critical pods after the
// others; as long as one of a group is there no other group is touched.
func inOrder(t *testing.T, w *launchingCluster) {
	w.fleet(t, "order", 1) // order-0, which has no controller, is the first
	critical := func(class string, also func(*corev1.Pod)) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.PriorityClassName = class
			also(p)
		}
	}
	w.lodge(t, "order-0", "order-daemon", owned("DaemonSet"))
	w.lodge(t, "order-0", "order-critical", critical("system-cluster-critical", owned("ReplicaSet")))
	w.lodge(t, "order-0", "order-last", critical("system-node-critical", owned("DaemonSet")))
	order := []string{"order-0", "order-daemon", "order-critical", "order-last"}
	hold(t, w, order[0])
	w.awaitHold(t, order[0])
	w.delete(t, "order-0")
	for i := range order {
		w.drains(t, "order-0")
		for _, name := range order[i:] {
			if !w.lodges(t, name) {
				t.Errorf("%s was evicted while %s was there", name, order[i])
			}
		}
		if i+1 < len(order) {
			hold(t, w, order[i+1])
			w.awaitHold(t, order[i+1])
		}
		release(t, w, order[i])
		w.eventually(t, order[i]+" to be evicted", func() bool { return !w.lodges(t, order[i]) })
	}
	w.gone(t, "order-0")
}

// awaitHold waits until the cache shows that a pod may not be disrupted.
func (w *launchingCluster) awaitHold(t *testing.T, name string) {
	t.Helper()
	w.eventually(t, "the cache to show that "+name+" is held", func() bool { return w.getPod(t, name).Annotations[karpv1.AnnotationDoNotDisrupt] != "" })
}

// severalBudgets: the Eviction API takes no pod of two budgets. That is told, it
// keeps no other pod, and it ends when one of the budgets does.
func severalBudgets(t *testing.T, w *launchingCluster) {
	w.fleet(t, "several", 1)
	for _, name := range []string{"several-z", "several-zz"} { // whichever comes first
		w.lodge(t, "several-0", name, func(*corev1.Pod) {})
	}
	first := protect(t, w, "several-0")
	second := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "several-too"}, Spec: *first.Spec.DeepCopy(),
	}
	w.create(t, second)
	allow(t, w, first, 1)
	allow(t, w, second, 1)
	w.delete(t, "several-0")
	w.told(t, "node-several-0", karpv1.EventFailedDraining, "default/several-0", "more than one PodDisruptionBudget")
	w.eventually(t, "the pods of no budget to leave", func() bool { return !w.lodges(t, "several-z") && !w.lodges(t, "several-zz") })
	w.drains(t, "several-0")
	if !w.lodges(t, "several-0") {
		t.Error("the pod of two budgets is gone")
	}
	if err := w.client.Delete(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	w.gone(t, "several-0")
}

// unhealthy: a pod that is not ready leaves when its budget's unhealthyPodEvictionPolicy
// says so, however few others there are.
func unhealthy(t *testing.T, w *launchingCluster) {
	w.fleet(t, "unready", 1)
	pdb := protect(t, w, "unready-0")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "unready-0"}}
	const unready = `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"False"}]}}`
	if err := w.client.Status().Patch(t.Context(), pod, client.RawPatch(types.StrategicMergePatchType, []byte(unready))); err != nil {
		t.Fatal(err)
	}
	base := pdb.DeepCopy()
	pdb.Status.CurrentHealthy, pdb.Status.DesiredHealthy = 0, 1
	if err := w.client.Status().Patch(t.Context(), pdb, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	w.delete(t, "unready-0")
	w.told(t, "node-unready-0", karpv1.EventFailedDraining, "default/unready-0")
	w.drains(t, "unready-0")
	if !w.lodges(t, "unready-0") {
		t.Error("IfHealthyBudget let a pod go that was needed")
	}
	base = pdb.DeepCopy()
	always := policyv1.AlwaysAllow
	pdb.Spec.UnhealthyPodEvictionPolicy = &always
	if err := w.client.Patch(t.Context(), pdb, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	w.gone(t, "unready-0")
}

// attach says that a volume of a claim is attached to a node, and returns what takes
// it off again.
func (w *launchingCluster) attach(t *testing.T, node, name string) (detach func()) {
	t.Helper()
	volume := "pv-" + name
	w.create(t, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			VolumeName: volume, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	})
	a := &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: "csi-" + name},
		Spec:       storagev1.VolumeAttachmentSpec{Attacher: "ebs.csi.aws.com", NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume}},
	}
	w.create(t, a)
	return func() {
		if err := w.client.Delete(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
}

// mounts makes a pod use a claim.
func mounts(claim string, also func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}}}
		also(p)
	}
}

// tolerant makes a pod stay on nodes that are drained.
func tolerant(p *corev1.Pod) {
	p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
}

// volumes: the instance ends when the volumes of the pods that left are detached.
// Static pods and those that tolerate the drain stay, and so do their volumes:
// nobody waits for either.
func volumes(t *testing.T, w *launchingCluster) {
	w.fleet(t, "volume", 1)
	w.lodge(t, "volume-0", "volume-moves", mounts("volume-moves", owned("ReplicaSet")))
	w.lodge(t, "volume-0", "volume-stays", mounts("volume-stays", tolerant))
	w.lodge(t, "volume-0", "volume-static", mounts("volume-static", owned("Node")))
	stay := []string{"volume-stays", "volume-static"}
	var detach func()
	for _, name := range append(stay, "volume-moves") {
		detach = w.attach(t, "node-volume-0", name)
	}
	w.attach(t, "node-other", "volume-other")
	w.delete(t, "volume-0")
	w.told(t, "node-volume-0", karpv1.EventAwaitingVolumeDetachment, "1 volumes")
	w.says(t, "volume-0", karpv1.ConditionDrained, metav1.ConditionTrue, karpv1.ConditionDrained)
	w.says(t, "volume-0", karpv1.ConditionVolumesDetached, metav1.ConditionUnknown, "AwaitingVolumeDetachment")
	w.drains(t, "volume-0")
	if w.living("volume-0") != 1 {
		t.Error("the instance ended while a volume was attached")
	}
	if w.lodges(t, "volume-moves") || slices.ContainsFunc(stay, func(name string) bool { return !w.lodges(t, name) }) {
		t.Error("a pod that stays was evicted, or one that leaves was not")
	}
	detach()
	w.gone(t, "volume-0")
	w.clean(t, "volume-stays", "volume-static")
}

// clean deletes pods that no kubelet does.
func (w *launchingCluster) clean(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := w.client.Delete(t.Context(), w.getPod(t, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// overdue: when the terminationGracePeriod is over the instance ends, attached
// volumes or not, and the claim does not say that they were detached.
func overdue(t *testing.T, w *launchingCluster) {
	w.fleetWith(t, "overdue", 1, func(c *karpv1.NodeClaim) {
		c.Spec.TerminationGracePeriod = &karpv1.Duration{Duration: 20 * time.Second} // the drain takes five
	})
	w.lodge(t, "overdue-0", "overdue-moves", mounts("overdue-moves", owned("ReplicaSet")))
	w.attach(t, "node-overdue-0", "overdue-moves")
	w.delete(t, "overdue-0")
	var said []string
	w.eventually(t, "the end of overdue-0", func() bool {
		c := w.getClaim(t, "overdue-0")
		if c == nil {
			return w.living("overdue-0") == 0
		}
		x := meta.FindStatusCondition(c.Status.Conditions, karpv1.ConditionVolumesDetached)
		if x != nil && !slices.Contains(said, x.Reason) {
			said = append(said, x.Reason)
		}
		return false
	})
	if want := []string{"AwaitingVolumeDetachment", "TerminationGracePeriodElapsed"}; !slices.Equal(said, want) {
		t.Errorf("condition VolumesDetached said %v, want %v", said, want)
	}
}

// lateBindings: a node without pods is not ended at once. A scheduler that has not seen its
// taint may still bind pods, which are evicted then.
func lateBindings(t *testing.T, w *launchingCluster) {
	w.fleet(t, "late", 1)
	w.empty(t, "late-0")
	start := time.Now()
	w.delete(t, "late-0")
	w.gone(t, "late-0")
	// Deletion timestamps are in whole seconds.
	if took := time.Since(start); took < 4*time.Second {
		t.Errorf("the node was ended after %s", took)
	}
}

// empty removes the pod that a node of a fleet has.
func (w *launchingCluster) empty(t *testing.T, name string) {
	t.Helper()
	if err := w.client.Delete(t.Context(), w.getPod(t, name)); err != nil {
		t.Fatal(err)
	}
	w.eventually(t, name+" to be gone", func() bool { return !w.lodges(t, name) })
}
