package lower

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

// Inputs are all objects that a Snapshot is made of. Their order does not
// matter, and none of them is changed.
type Inputs struct {
	// Time and Seed become the snapshot's.
	Time    time.Time
	Seed    uint64
	Cluster string
	// Live says that a scheduler is at work: a pod then counts as pending
	// only once the scheduler has found it unschedulable.
	Live bool

	NodePools  []*karpv1.NodePool
	NodeClaims []*karpv1.NodeClaim
	Nodes      []*corev1.Node
	Pods       []*corev1.Pod
	DaemonSets []*appsv1.DaemonSet

	Namespaces      []*corev1.Namespace
	LimitRanges     []*corev1.LimitRange
	RuntimeClasses  []*nodev1.RuntimeClass
	PriorityClasses []*schedulingv1.PriorityClass
	VolumeClaims    []*corev1.PersistentVolumeClaim
	Volumes         []*corev1.PersistentVolume
	StorageClasses  []*storagev1.StorageClass
	CSINodes        []*storagev1.CSINode
	PodBudgets      []*policyv1.PodDisruptionBudget

	// Memo, when set, makes the next Build over much the same pods cheaper.
	Memo *Memo

	// Settings become the snapshot's.
	Settings model.Settings

	// Catalogs are what each node class can launch, by its name.
	Catalogs map[string]model.Catalog
	// ClassReady says whether a node class can be launched from, and if not
	// why; nil takes every class for ready.
	ClassReady func(name string) (ok bool, why string)
	// Planned names the NodeClaim that a pending pod waits for, by the pod's
	// UID, beyond what the claims say themselves.
	Planned map[string]string
}

// Warning is something about an object that its author may want to know, and
// that does not stand in the way of a decision.
type Warning struct {
	// Object is the kind and name: "Pod shop/web-1".
	Object  string
	Message string
}

// String is "object: message".
func (w Warning) String() string { return w.Object + ": " + w.Message }
