// Package cluster builds a Snapshot of the cluster from the objects that watches
// deliver. It reads the informers' stores directly: the objects are shared with the
// cache, and it never changes them.
package cluster

import (
	"context"
	"fmt"
	"sync/atomic"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/kube/places"
)

// Config is what a Cluster is made of.
type Config struct {
	Name  string
	Cache cache.Cache
	// Settings become those of every snapshot.
	Settings model.Settings
	// Live reads from the API server and not from the cache.
	Live  client.Reader
	Clock clock.Clock
	// Catalog is what a node class can launch now (provider.Provider.Catalog).
	Catalog func(ctx context.Context, nodeClass string) (model.Catalog, error)
	// Instances are what the cloud says of the cluster's instances; nil when nobody
	// asks it.
	Instances *Instances
	// Announced also watches the owners that announce pods before they create them: a
	// snapshot then contains these pods.
	Announced bool
	// Places are what pods have taken of the places of announced ones; nil if nothing but
	// decisions gives these.
	Places *places.Book
	// Volumes returns the prices of block volumes by type. When it is nil or returns
	// nil, package lower uses its own prices.
	Volumes func() map[string]model.VolumePrice
}

// Cluster is the cluster as the watches show it.
type Cluster struct {
	cfg    Config
	stores stores
	// specCache speeds up the next snapshot. Only one goroutine calls Snapshot.
	specCache lower.SpecCache
	// creating are the owners that were creating pods in the last snapshot, by UID.
	creating atomic.Pointer[map[types.UID]bool]
	// newcomers are the owners that had yet to create a pod when [Cluster.Starting] last
	// looked, and those of whose pods nothing has been decided.
	newcomers newcomers
	// departed are the nodes whose deletion began within the last hour.
	departed []model.Departure
}

// stores are the informers' stores.
//
// Size: one for each kind that a snapshot reads.
type stores struct {
	pools, claims, classes, nodes, pods, daemons toolscache.Store
	limits, runtimes                             toolscache.Store
	namespaces, priorities, podBudgets           toolscache.Store
	volumeClaims, volumes, storage, csiNodes     toolscache.Store
	// Of the owners that announce pods; nil where they are not watched.
	replicaSets, statefulSets, jobs, quotas toolscache.Store
}

// watched is a kind of object and where its store is kept.
type watched struct {
	kind  client.Object
	store *toolscache.Store
}

// New starts the informers. The cache need not be synced yet.
func New(ctx context.Context, cfg Config) (*Cluster, error) {
	c := &Cluster{cfg: cfg}
	kinds := []watched{
		{&karpv1.NodePool{}, &c.stores.pools},
		{&karpv1.NodeClaim{}, &c.stores.claims},
		{&awsv1.EC2NodeClass{}, &c.stores.classes},
		{&corev1.Node{}, &c.stores.nodes},
		{&corev1.Pod{}, &c.stores.pods},
		{&appsv1.DaemonSet{}, &c.stores.daemons},
		{&corev1.Namespace{}, &c.stores.namespaces},
		{&corev1.LimitRange{}, &c.stores.limits},
		{&nodev1.RuntimeClass{}, &c.stores.runtimes},
		{&schedulingv1.PriorityClass{}, &c.stores.priorities},
		{&corev1.PersistentVolumeClaim{}, &c.stores.volumeClaims},
		{&corev1.PersistentVolume{}, &c.stores.volumes},
		{&storagev1.StorageClass{}, &c.stores.storage},
		{&storagev1.CSINode{}, &c.stores.csiNodes},
		{&policyv1.PodDisruptionBudget{}, &c.stores.podBudgets},
	}
	if cfg.Announced {
		kinds = append(kinds,
			watched{&appsv1.ReplicaSet{}, &c.stores.replicaSets},
			watched{&appsv1.StatefulSet{}, &c.stores.statefulSets},
			watched{&batchv1.Job{}, &c.stores.jobs},
			watched{&corev1.ResourceQuota{}, &c.stores.quotas},
		)
	}
	for _, each := range kinds {
		store, err := storeOf(ctx, cfg.Cache, each.kind)
		if err != nil {
			return nil, err
		}
		*each.store = store
	}
	return c, nil
}

func storeOf(ctx context.Context, c cache.Cache, kind client.Object) (toolscache.Store, error) {
	informer, err := c.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watch %T: %w", kind, err)
	}
	shared, ok := informer.(toolscache.SharedIndexInformer)
	if !ok {
		return nil, fmt.Errorf("watch %T: the cache is split by namespace, and a snapshot needs all of it", kind)
	}
	return shared.GetStore(), nil
}

// list returns the store's objects of type T, nil for no store.
func list[T client.Object](s toolscache.Store) []T {
	if s == nil {
		return nil
	}
	all := s.List()
	out := make([]T, 0, len(all))
	for _, o := range all {
		if t, ok := o.(T); ok {
			out = append(out, t)
		}
	}
	return out
}

// get finds a cluster-scoped object by name.
func get[T client.Object](s toolscache.Store, name string) (T, bool) {
	var none T
	o, ok, err := s.GetByKey(name)
	if err != nil || !ok {
		return none, false
	}
	t, ok := o.(T)
	return t, ok
}
