package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/lower"
)

// Objects holds the objects of all manifests, by kind.
//
// Size: one field for each kind of manifest, and a method where a kind is read in its
// own way.
type Objects struct {
	NodePools   []*karpv1.NodePool
	NodeClaims  []*karpv1.NodeClaim
	NodeClasses []*awsv1.EC2NodeClass
	Nodes       []*corev1.Node
	Pods        []*corev1.Pod

	Deployments  []*appsv1.Deployment
	ReplicaSets  []*appsv1.ReplicaSet
	StatefulSets []*appsv1.StatefulSet
	DaemonSets   []*appsv1.DaemonSet
	Jobs         []*batchv1.Job

	Namespaces      []*corev1.Namespace
	LimitRanges     []*corev1.LimitRange
	RuntimeClasses  []*nodev1.RuntimeClass
	PriorityClasses []*schedulingv1.PriorityClass
	VolumeClaims    []*corev1.PersistentVolumeClaim
	Volumes         []*corev1.PersistentVolume
	StorageClasses  []*storagev1.StorageClass
	CSINodes        []*storagev1.CSINode
	Budgets         []*policyv1.PodDisruptionBudget

	// Policies are the ConfigMaps that contain a policy.
	Policies []*corev1.ConfigMap

	// Taken is a snapshot that was taken from a cluster, in place of manifests.
	Taken *Taken

	Warnings []Warning

	sources map[string]Source // by "Kind namespace/name"
	// unchecked says that NodePools with problems are kept, which the caller looks for.
	unchecked bool
}

// Source returns the file and line of an object, which is named by kind and name: "Pod
// shop/web-1", "NodePool general".
func (o *Objects) Source(object string) Source { return o.sources[object] }

// Read reads the manifests of files and folders. An error names the file and
// the line.
func Read(paths ...string) (*Objects, error) {
	o := &Objects{sources: map[string]Source{}}
	for _, path := range paths {
		names, err := files(path)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			raw, err := ReadFile(name)
			if err != nil {
				return nil, err
			}
			if err := o.Parse(name, raw); err != nil {
				return nil, err
			}
		}
	}
	return o, nil
}

// ReadAll reads what can be read of the manifests of files and folders. An object, a file
// or a path that cannot be read is an error of its own and does not stop the others.
// NodePools with problems are among the objects.
func ReadAll(paths ...string) (*Objects, []error) {
	o := &Objects{sources: map[string]Source{}, unchecked: true}
	var errs []error
	for _, path := range paths {
		names, err := files(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, name := range names {
			raw, err := ReadFile(name)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			errs = append(errs, o.parse(name, raw)...)
		}
	}
	return o, errs
}

// Parse adds the objects of one file's contents.
func (o *Objects) Parse(file string, raw []byte) error {
	if errs := o.parse(file, raw); len(errs) > 0 {
		return errs[0]
	}
	return nil
}

// parse adds the objects of one file's contents that can be read, and returns an error
// for each other.
func (o *Objects) parse(file string, raw []byte) []error {
	if o.sources == nil {
		o.sources = map[string]Source{}
	}
	docs, err := documents(file, raw)
	if err != nil {
		return []error{err}
	}
	var errs []error
	for i := range docs {
		errs = append(errs, o.add(&docs[i])...)
	}
	return errs
}

func (o *Objects) add(d *document) []error {
	var meta metav1.TypeMeta
	if err := json.Unmarshal(d.json, &meta); err != nil {
		return []error{&Error{d.source, errors.New("not a Kubernetes object: want a mapping with apiVersion and kind")}}
	}
	if meta.APIVersion == "" || meta.Kind == "" {
		return []error{&Error{d.source, errors.New("not a Kubernetes object: apiVersion and kind must be set")}}
	}
	if kind, ok := strings.CutSuffix(meta.Kind, "List"); ok {
		return o.list(d, kind, meta.APIVersion)
	}
	if err := o.object(d, meta); err != nil {
		return []error{err}
	}
	return nil
}

// list adds the items of a list; those of a typed list may leave out kind and
// apiVersion.
func (o *Objects) list(d *document, kind, version string) []error {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(d.json, &list); err != nil {
		return []error{&Error{d.source, fmt.Errorf("read list: %w", err)}}
	}
	var errs []error
	for i, raw := range list.Items {
		item := &document{source: d.source, text: d.text, start: d.start, json: raw, prefix: fmt.Sprintf("%sitems[%d].", d.prefix, i)}
		if err := o.item(item, kind, version); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// item adds an item of a list.
func (o *Objects) item(d *document, kind, version string) error {
	meta := metav1.TypeMeta{}
	if err := json.Unmarshal(d.json, &meta); err != nil {
		return &Error{d.line(""), errors.New("not a Kubernetes object: want a mapping")}
	}
	if meta.Kind == "" && kind != "" {
		meta = metav1.TypeMeta{APIVersion: version, Kind: kind}
	}
	if meta.Kind == "" {
		return &Error{d.line(""), errors.New("not a Kubernetes object: apiVersion and kind must be set")}
	}
	return o.object(d, meta)
}

// object decodes an object by its kind. It skips kinds that do not affect decisions,
// with a warning.
func (o *Objects) object(d *document, meta metav1.TypeMeta) error {
	switch meta.APIVersion + " " + meta.Kind {
	case TakenAPIVersion + " " + TakenKind:
		return o.taken(d)
	case "karpenter.sh/v1 NodePool":
		return o.nodePool(d)
	case "karpenter.sh/v1 NodeClaim":
		return keep(o, d, "NodeClaim", &o.NodeClaims)
	case "karpenter.k8s.aws/v1 EC2NodeClass":
		return keep(o, d, "EC2NodeClass", &o.NodeClasses)
	case "v1 Node":
		return keep(o, d, "Node", &o.Nodes)
	case "v1 Pod":
		return keep(o, d, "Pod", &o.Pods)
	case "apps/v1 Deployment":
		return keep(o, d, "Deployment", &o.Deployments)
	case "apps/v1 ReplicaSet":
		return keep(o, d, "ReplicaSet", &o.ReplicaSets)
	case "apps/v1 StatefulSet":
		return keep(o, d, "StatefulSet", &o.StatefulSets)
	case "apps/v1 DaemonSet":
		return keep(o, d, "DaemonSet", &o.DaemonSets)
	case "batch/v1 Job":
		return keep(o, d, "Job", &o.Jobs)
	case "v1 Namespace":
		return keep(o, d, "Namespace", &o.Namespaces)
	case "v1 LimitRange":
		return keep(o, d, "LimitRange", &o.LimitRanges)
	case "node.k8s.io/v1 RuntimeClass":
		return keep(o, d, "RuntimeClass", &o.RuntimeClasses)
	case "scheduling.k8s.io/v1 PriorityClass":
		return keep(o, d, "PriorityClass", &o.PriorityClasses)
	case "v1 PersistentVolumeClaim":
		return keep(o, d, "PersistentVolumeClaim", &o.VolumeClaims)
	case "v1 PersistentVolume":
		return keep(o, d, "PersistentVolume", &o.Volumes)
	case "storage.k8s.io/v1 StorageClass":
		return keep(o, d, "StorageClass", &o.StorageClasses)
	case "storage.k8s.io/v1 CSINode":
		return keep(o, d, "CSINode", &o.CSINodes)
	case "policy/v1 PodDisruptionBudget":
		return keep(o, d, "PodDisruptionBudget", &o.Budgets)
	case "v1 ConfigMap":
		return o.configMap(d)
	}
	group, _, _ := strings.Cut(meta.APIVersion, "/")
	if group == karpv1.Group || group == awsv1.Group {
		if meta.APIVersion != group+"/v1" {
			return &Error{d.line("apiVersion"), fmt.Errorf("%s of %s: want %s/v1", meta.APIVersion, meta.Kind, group)}
		}
	}
	o.warn(d.source, "%s %s plays no part in a decision", meta.APIVersion, meta.Kind)
	return nil
}

func (o *Objects) warn(at Source, format string, args ...any) {
	o.Warnings = append(o.Warnings, Warning{at, fmt.Sprintf(format, args...)})
}

func (o *Objects) nodePool(d *document) error {
	if err := keep(o, d, "NodePool", &o.NodePools); err != nil {
		return err
	}
	np := o.NodePools[len(o.NodePools)-1]
	if problems := lower.Problems(np); len(problems) > 0 && !o.unchecked {
		p := problems[0]
		return &Error{d.line(p.Path), fmt.Errorf("NodePool %s: %s", np.Name, p)}
	}
	np.SetDefaults()
	return nil
}

func (o *Objects) configMap(d *document) error {
	var all []*corev1.ConfigMap
	if err := keep(o, d, "ConfigMap", &all); err != nil {
		return err
	}
	if all[0].Labels[karpv1.LabelPolicy] == "true" {
		o.Policies = append(o.Policies, all[0])
	}
	return nil
}

// keep decodes an object, appends it to its list and records its file and line.
func keep[T any, P interface {
	*T
	metav1.Object
}](o *Objects, d *document, kind string, into *[]*T) error {
	obj := P(new(T))
	if err := d.decode(obj); err != nil {
		return err
	}
	if obj.GetName() == "" {
		return &Error{d.line("metadata"), fmt.Errorf("%s: metadata.name must be set", kind)}
	}
	key := kind + " " + obj.GetName()
	if namespaced(kind) {
		if obj.GetNamespace() == "" {
			obj.SetNamespace(corev1.NamespaceDefault)
		}
		key = kind + " " + obj.GetNamespace() + "/" + obj.GetName()
	}
	if other, ok := o.sources[key]; ok {
		return &Error{d.line("metadata.name"), fmt.Errorf("%s stands at %s already", key, other)}
	}
	o.sources[key] = d.source
	*into = append(*into, (*T)(obj))
	return nil
}

func namespaced(kind string) bool {
	return !slices.Contains([]string{
		"NodePool", "NodeClaim", "EC2NodeClass", "Node", "Namespace", "PriorityClass", "RuntimeClass", "PersistentVolume", "StorageClass", "CSINode",
	}, kind)
}
