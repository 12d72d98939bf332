package scenario

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/lower"
)

// Options say how a snapshot is made from manifests.
type Options struct {
	Time time.Time
	Seed uint64
	// Asked names the flags that the user set although a snapshot from a file has its
	// own value for them, such as --time. Such a flag is an error and is not silently
	// ignored.
	Asked []string
	// Reseed says that Seed replaces the seed of a snapshot from a file.
	Reseed bool
	// Cluster is the name of the snapshot's cluster. Live says that the objects come
	// from a cluster with a running scheduler (lower.Inputs).
	Cluster string
	Live    bool
	// Settings are copied into the snapshot.
	Settings model.Settings
	// Catalog, when set, is what every node class can launch.
	Catalog *model.Catalog
	// Region selects the embedded catalogue when Catalog is nil. When empty, it is the
	// region that zones in the manifests belong to, or DefaultRegion.
	Region string
}

// DefaultRegion is the region of a scenario that names none.
const DefaultRegion = "us-east-1"

// Snapshot makes the snapshot of a scenario. It may be called only once: it adds the
// pods of workloads to o.
func (o *Objects) Snapshot(opts Options) (model.Snapshot, error) {
	if o.Taken != nil {
		return o.retake(&opts)
	}
	if err := o.expand(); err != nil {
		return model.Snapshot{}, err
	}
	o.storageClasses()
	o.priorityClasses()
	catalogs, err := o.catalogs(&opts)
	if err != nil {
		return model.Snapshot{}, err
	}
	snapshot, warnings := lower.Build(lower.Inputs{
		Time: opts.Time, Seed: opts.Seed, Settings: opts.Settings, Cluster: opts.Cluster, Live: opts.Live,
		NodePools: o.NodePools, NodeClaims: o.NodeClaims, Nodes: o.Nodes, Pods: o.Pods, DaemonSets: o.DaemonSets,
		PriorityClasses: o.PriorityClasses, VolumeClaims: o.VolumeClaims, Volumes: o.Volumes, StorageClasses: o.StorageClasses, CSINodes: o.CSINodes,
		PodBudgets: o.Budgets, Namespaces: o.Namespaces, LimitRanges: o.LimitRanges, RuntimeClasses: o.RuntimeClasses,
		Catalogs: catalogs, ClassReady: o.classReady,
	})
	for _, w := range warnings {
		o.warn(o.sources[w.Object], "%s", w)
	}
	return snapshot, nil
}

// retake returns the snapshot of a file. Its time, settings and prices are those of the
// file; only the seed can be replaced.
func (o *Objects) retake(opts *Options) (model.Snapshot, error) {
	if err := o.alone(); err != nil {
		return model.Snapshot{}, err
	}
	if opts.Catalog != nil || opts.Region != "" {
		return model.Snapshot{}, &Error{o.sources[TakenKind], errors.New("a Snapshot has its own catalogue: --catalog and --region do not go with it")}
	}
	s := o.Taken.Snapshot
	if len(opts.Asked) > 0 {
		return model.Snapshot{}, &Error{o.sources[TakenKind], fmt.Errorf("a Snapshot has its own time and settings: %s does not go with it", strings.Join(opts.Asked, ", "))}
	}
	if opts.Reseed {
		s.Seed = opts.Seed
	}
	return s, nil
}

// catalogs returns the catalogue of every node class that a pool or claim names.
func (o *Objects) catalogs(opts *Options) (map[string]model.Catalog, error) {
	region := opts.Region
	if region == "" {
		region = o.Region()
	}
	named := o.namedClasses()
	var types []catalog.Type
	var sales []catalog.Sale
	if opts.Catalog == nil && len(named) > 0 {
		var err error
		if types, sales, err = catalog.Load(region); err != nil {
			return nil, err
		}
	}
	out := make(map[string]model.Catalog, len(named))
	for _, name := range slices.Sorted(maps.Keys(named)) {
		class := o.class(name)
		if class == nil {
			o.warn(named[name], "EC2NodeClass %s is not among the manifests: taken as resolvable, with default kubelet settings", name)
			class = &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
		}
		if opts.Catalog != nil {
			out[name] = withCost(*opts.Catalog, class)
			continue
		}
		lowering, err := classOptions(class, region)
		if err != nil {
			return nil, &Error{o.sources["EC2NodeClass "+name], err}
		}
		out[name] = withCost(catalog.Lower(types, sales, lowering), class)
	}
	return out, nil
}

// withCost adds what every node of the class costs besides its instance.
func withCost(c model.Catalog, class *awsv1.EC2NodeClass) model.Catalog {
	ebs, ipv4 := lower.NodeCost(class, c.Region, nil)
	c.NodeCost = ebs + ipv4
	return c
}

// namedClasses returns the node classes that pools and claims name, and where they do.
func (o *Objects) namedClasses() map[string]Source {
	out := map[string]Source{}
	add := func(name string, at Source) {
		if _, ok := out[name]; !ok && name != "" {
			out[name] = at
		}
	}
	for _, np := range o.NodePools {
		add(np.Spec.Template.Spec.NodeClassRef.Name, o.sources["NodePool "+np.Name])
	}
	for _, c := range o.NodeClaims {
		if o.lacksClass(c.Spec.NodeClassRef.Name) {
			continue // nothing is launched from it
		}
		add(c.Spec.NodeClassRef.Name, o.sources["NodeClaim "+c.Name])
	}
	return out
}

func (o *Objects) class(name string) *awsv1.EC2NodeClass {
	for _, c := range o.NodeClasses {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Region returns the embedded region to which the zones and regions in the manifests
// belong, or DefaultRegion.
func (o *Objects) Region() string {
	known := catalog.Regions()
	for _, place := range o.placeNames() {
		for _, r := range known {
			if place == r || len(place) == len(r)+1 && strings.HasPrefix(place, r) {
				return r
			}
		}
	}
	return DefaultRegion
}

// placeNames returns the zones and regions that NodePools and nodes name.
func (o *Objects) placeNames() []string {
	var out []string
	for _, np := range o.NodePools {
		for i := range np.Spec.Template.Spec.Requirements {
			r := &np.Spec.Template.Spec.Requirements[i]
			if (r.Key == corev1.LabelTopologyZone || r.Key == corev1.LabelTopologyRegion) && r.Operator == corev1.NodeSelectorOpIn {
				out = append(out, r.Values...)
			}
		}
	}
	for _, n := range o.Nodes {
		out = append(out, n.Labels[corev1.LabelTopologyRegion], n.Labels[corev1.LabelTopologyZone])
	}
	return out
}

// classReady returns the Ready condition of a node class. A class without one, as in
// manifests that were not applied yet, is ready.
func (o *Objects) classReady(name string) (ok bool, why string) {
	class := o.class(name)
	if class == nil {
		return true, ""
	}
	for i := range class.Status.Conditions {
		cond := &class.Status.Conditions[i]
		if cond.Type == awsv1.ConditionReady && cond.Status == metav1.ConditionFalse {
			return false, strings.TrimSpace(cond.Reason + ": " + cond.Message)
		}
	}
	return true, ""
}

// storageClasses adds storage classes that claims name and the manifests lack. They
// provision a volume where the pod is scheduled.
func (o *Objects) storageClasses() {
	known := map[string]bool{}
	byDefault := false
	for _, c := range o.StorageClasses {
		known[c.Name] = true
		byDefault = byDefault || c.Annotations["storageclass.kubernetes.io/is-default-class"] == "true"
	}
	wait := storagev1.VolumeBindingWaitForFirstConsumer
	for _, c := range o.VolumeClaims {
		if c.Spec.VolumeName != "" {
			continue
		}
		name := ""
		if c.Spec.StorageClassName != nil {
			name = *c.Spec.StorageClassName
		}
		if known[name] || name == "" && byDefault {
			continue
		}
		known[name] = true
		o.warn(o.sources["PersistentVolumeClaim "+c.Namespace+"/"+c.Name],
			"StorageClass %q is not among the manifests: taken to make volumes where their first pod lands", name)
		o.StorageClasses = append(o.StorageClasses, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, VolumeBindingMode: &wait})
	}
}

func (o *Objects) priorityClasses() {
	known := map[string]bool{"": true, "system-node-critical": true, "system-cluster-critical": true}
	for _, c := range o.PriorityClasses {
		known[c.Name] = true
	}
	for _, p := range o.Pods {
		if name := p.Spec.PriorityClassName; p.Spec.Priority == nil && !known[name] {
			known[name] = true
			o.warn(o.sources["Pod "+p.Namespace+"/"+p.Name], "PriorityClass %s is not among the manifests: taken as priority 0", name)
		}
	}
}

// String returns the numbers of objects of a scenario.
func (o *Objects) String() string {
	return fmt.Sprintf("%d NodePools, %d nodes, %d pods", len(o.NodePools), len(o.Nodes), len(o.Pods))
}

// Empty reports whether there is no object but policies.
func (o *Objects) Empty() bool { return o.count() == 0 }
