package cluster

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/kube/managed"
)

// View is a snapshot, with the objects that are needed to apply a decision on it.
type View struct {
	Snapshot model.Snapshot
	Pools    map[string]*karpv1.NodePool
	Warnings []lower.Warning
	// Unplanned are the claims to launch for which no decision has chosen options.
	Unplanned []*karpv1.NodeClaim
	// Announced are the changes of what claims say about announced pods.
	Announced AnnouncedChanges
	// ClassProblems says of node classes in use why nothing can be launched from them.
	ClassProblems map[string]string
}

// Snapshot returns the cluster as the caches show it now. An error means that the
// caches are not synced. A node class from which nothing can be launched is no error:
// its pools are NotReady.
func (c *Cluster) Snapshot(ctx context.Context, rollout lower.Rollout) (*View, error) {
	if !c.cfg.Cache.WaitForCacheSync(ctx) {
		return nil, fmt.Errorf("sync caches: %w", context.Cause(ctx))
	}
	now := c.cfg.Clock.Now()
	rollout.New = c.newcomers.undecided()
	pools := list[*karpv1.NodePool](c.stores.pools)
	claims := list[*karpv1.NodeClaim](c.stores.claims)
	view := &View{Pools: make(map[string]*karpv1.NodePool, len(pools))}
	for _, claim := range claims {
		if lower.IsUnplanned(claim) {
			view.Unplanned = append(view.Unplanned, claim)
		}
	}
	catalogs, broken := c.catalogs(ctx, classesInUse(pools, view.Unplanned))
	view.ClassProblems = broken
	for _, p := range pools {
		view.Pools[p.Name] = p
	}
	view.Snapshot, view.Warnings = lower.Build(lower.Inputs{
		Cloud: c.cloud(),
		Time:  now, Seed: seed(c.cfg.Name, now), Cluster: c.cfg.Name, Live: true, SpecCache: &c.specCache, Settings: c.cfg.Settings,
		NodePools:       pools,
		NodeClaims:      claims,
		Nodes:           list[*corev1.Node](c.stores.nodes),
		Pods:            list[*corev1.Pod](c.stores.pods),
		DaemonSets:      list[*appsv1.DaemonSet](c.stores.daemons),
		LimitRanges:     list[*corev1.LimitRange](c.stores.limits),
		RuntimeClasses:  list[*nodev1.RuntimeClass](c.stores.runtimes),
		Namespaces:      list[*corev1.Namespace](c.stores.namespaces),
		PriorityClasses: list[*schedulingv1.PriorityClass](c.stores.priorities),
		VolumeClaims:    list[*corev1.PersistentVolumeClaim](c.stores.volumeClaims),
		Volumes:         list[*corev1.PersistentVolume](c.stores.volumes),
		StorageClasses:  list[*storagev1.StorageClass](c.stores.storage),
		CSINodes:        list[*storagev1.CSINode](c.stores.csiNodes),
		PodBudgets:      list[*policyv1.PodDisruptionBudget](c.stores.podBudgets),
		ReplicaSets:     list[*appsv1.ReplicaSet](c.stores.replicaSets),
		StatefulSets:    list[*appsv1.StatefulSet](c.stores.statefulSets),
		Jobs:            list[*batchv1.Job](c.stores.jobs),
		ResourceQuotas:  list[*corev1.ResourceQuota](c.stores.quotas),
		Adopt:           view.Announced.adopt,
		Withdraw:        view.Announced.withdraw,
		LetIn:           c.cfg.Places.Of,
		Announces: func(owners, began, held map[types.UID]bool) {
			c.creating.Store(&owners)
			c.newcomers.decided(began, held)
		},
		Rollout:  rollout,
		Catalogs: catalogs,
		ClassReady: func(name string) (bool, string) {
			if why := broken[name]; why != "" {
				return false, why
			}
			return true, ""
		},
	})
	c.departed = departures(c.departed, &view.Snapshot)
	view.Snapshot.Departed = c.departed
	return view, nil
}

// cloud returns what the cloud listed, nil when nobody asks it.
func (c *Cluster) cloud() lower.Instances {
	if c.cfg.Instances == nil {
		return nil
	}
	return c.cfg.Instances
}

// Pods returns all pods in the watch cache. They are shared with the cache and must not
// be changed.
func (c *Cluster) Pods() []*corev1.Pod { return list[*corev1.Pod](c.stores.pods) }

// Node returns a node from the watch cache, nil when it has none of the name. It must
// not be changed.
func (c *Cluster) Node(name string) *corev1.Node {
	node, _ := get[*corev1.Node](c.stores.nodes, name)
	return node
}

// classesInUse are the names of the node classes of pools and of claims to launch. A name
// may be there more than once.
func classesInUse(pools []*karpv1.NodePool, claims []*karpv1.NodeClaim) []string {
	var out []string
	for _, p := range pools {
		if managed.Pool(p) {
			out = append(out, p.Spec.Template.Spec.NodeClassRef.Name)
		}
	}
	for _, c := range claims {
		out = append(out, c.Spec.NodeClassRef.Name)
	}
	return out
}

// catalogs returns what each of the node classes can launch, and for the others why they
// can launch nothing.
func (c *Cluster) catalogs(ctx context.Context, classes []string) (map[string]model.Catalog, map[string]string) {
	out, broken := map[string]model.Catalog{}, map[string]string{}
	for _, name := range classes {
		if _, done := out[name]; done || broken[name] != "" {
			continue
		}
		if why := c.classProblem(name); why != "" {
			broken[name] = why
			continue
		}
		catalog, err := c.cfg.Catalog(ctx, name)
		if err != nil {
			broken[name] = err.Error()
			continue
		}
		if class, ok := get[*awsv1.EC2NodeClass](c.stores.classes, name); ok {
			ebs, ipv4 := lower.NodeCost(class, catalog.Region, c.volumes())
			catalog.NodeCost = ebs + ipv4
		}
		out[name] = catalog
	}
	return out, broken
}

// volumes returns the prices of volumes, nil when they are not known.
func (c *Cluster) volumes() map[string]model.VolumePrice {
	if c.cfg.Volumes == nil {
		return nil
	}
	return c.cfg.Volumes()
}

func (c *Cluster) classProblem(name string) string {
	class, ok := get[*awsv1.EC2NodeClass](c.stores.classes, name)
	if !ok {
		return "does not exist"
	}
	ready := meta.FindStatusCondition(class.Status.Conditions, karpv1.ConditionReady)
	switch {
	case !class.DeletionTimestamp.IsZero():
		return "is being deleted"
	case ready == nil:
		return "is not resolved yet"
	case ready.Status != "True":
		return "is not ready: " + ready.Message
	default:
		return ""
	}
}

// seed derives the decision's random seed from the cluster's name and the time. It is
// part of the snapshot, so that the decision can be replayed.
func seed(name string, now time.Time) uint64 {
	h := fnv.New64a()
	// Writing to a hash never fails.
	_, _ = fmt.Fprintf(h, "%s/%d", name, now.UnixNano())
	return h.Sum64()
}
