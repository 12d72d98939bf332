package lower

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// Inputs are all objects that a Snapshot is made of. Their order does not matter. Build
// changes none of them.
//
// Size: one field for each kind of object that a snapshot is made of.
type Inputs struct {
	// Time, Seed and Cluster are copied into the snapshot.
	Time    time.Time
	Seed    uint64
	Cluster string
	// Live says that a scheduler is running: a pod then counts as pending only once the
	// scheduler has found it unschedulable.
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

	// ReplicaSets, StatefulSets and Jobs announce pods: those that they will create besides
	// the pods that they have. Without them there are no announced pods.
	ReplicaSets  []*appsv1.ReplicaSet
	StatefulSets []*appsv1.StatefulSet
	Jobs         []*batchv1.Job
	// ResourceQuotas limit the announced pods of their namespaces.
	ResourceQuotas []*corev1.ResourceQuota
	// Adopt, when set, is called for each pod (namespace/name) that takes the place which was
	// planned on a NodeClaim for an announced pod of its owner (kind/namespace/name).
	Adopt func(claim, pod, owner string)
	// LetIn, when set, returns the name of the NodeClaim to whose node a pod (namespace/name)
	// was let in, on a place that was planned there for an announced pod of its owner; "" for
	// none. The pod may not show it yet.
	LetIn func(pod string) string
	// Withdraw, when set, is called for the places on a NodeClaim that are left for pods of
	// an owner which no longer announces as many.
	Withdraw func(claim, owner string, places int)
	// Announces, when set, is called with the UIDs of the owners that are creating pods: the
	// snapshot has all pods that they will have. began are those of Rollout.New of which it has
	// pods that are not bound, and those of the held ones wait (Rollout).
	Announces func(owners, began, held map[types.UID]bool)

	// Rollout says for which further pods those of new workloads wait.
	Rollout Rollout

	// SpecCache, when set, speeds up Build for pods that have not changed since the last
	// Build with the same SpecCache.
	SpecCache *SpecCache

	// Settings are copied into the snapshot.
	Settings model.Settings

	// Catalogs say what each node class can launch, by the name of the class.
	Catalogs map[string]model.Catalog
	// ClassReady reports whether nodes can be launched from a node class, and if not,
	// why. When nil, every class is ready.
	ClassReady func(name string) (ok bool, why string)
	// Cloud has the instances that Spokeshave launched, as the cloud listed them; nil when
	// the cloud is not known.
	Cloud Instances
	// Planned names the NodeClaim that a pending pod waits for, by the pod's UID. It
	// adds to what the annotations of the claims say.
	Planned map[string]string
}

// Instances are the instances of the cluster that are billed, as the cloud listed them last.
type Instances interface {
	// Get returns the instance with a provider ID.
	Get(providerID string) (provider.Instance, bool)
	// Of returns the instance whose tags name the claim.
	Of(claim string) (provider.Instance, bool)
	// Unclaimed returns the instances of which no claim knows.
	Unclaimed() []provider.Instance
}

// Warning is a problem with an object that its author should know about. It does not
// prevent a decision.
type Warning struct {
	// Object is the kind and name: "Pod shop/web-1".
	Object  string
	Message string
	// Reason is the reason of the event that reports the warning on the object, "" for
	// a warning without an event.
	Reason string
}

// String is "object: message".
func (w Warning) String() string { return w.Object + ": " + w.Message }
