package scenario

import (
	"fmt"
	"hash/fnv"
	"maps"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// maxPods is the largest number of pods that a scenario may have.
const maxPods = 1_000_000

// expand adds the pods that workloads would create and that the manifests lack. A dump
// of a cluster may hold a Deployment, its ReplicaSets and their pods; each replica is
// counted once. The names of added pods derive from the workload, and so are the same
// each time.
func (o *Objects) expand() error {
	have := o.owned()
	// The pods in the files come first; added ones follow, by kind of workload.
	for _, d := range o.Deployments {
		hash := templateHash("Deployment", d.Namespace, d.Name)
		owner := owner{kind: "Deployment", ref: "ReplicaSet", name: d.Name + "-" + hash, prefix: d.Name + "-" + hash + "-", meta: d}
		labels := map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: hash}
		if err := o.make(&owner, &d.Spec.Template, replicas(d.Spec.Replicas)-have[owner.key()], labels); err != nil {
			return err
		}
	}
	for _, rs := range o.ReplicaSets {
		if metav1.GetControllerOf(rs) != nil {
			continue // counted with its Deployment
		}
		owner := owner{kind: "ReplicaSet", ref: "ReplicaSet", name: rs.Name, prefix: rs.Name + "-" + templateHash("ReplicaSet", rs.Namespace, rs.Name) + "-", meta: rs}
		if err := o.make(&owner, &rs.Spec.Template, replicas(rs.Spec.Replicas)-have[owner.key()], nil); err != nil {
			return err
		}
	}
	for _, sts := range o.StatefulSets {
		if err := o.statefulSet(sts); err != nil {
			return err
		}
	}
	for _, job := range o.Jobs {
		if job.Spec.Suspend != nil && *job.Spec.Suspend {
			continue
		}
		n := replicas(job.Spec.Parallelism)
		if job.Spec.Completions != nil {
			n = min(n, int(*job.Spec.Completions-job.Status.Succeeded))
		}
		owner := owner{kind: "Job", ref: "Job", name: job.Name, prefix: job.Name + "-" + templateHash("Job", job.Namespace, job.Name) + "-", meta: job}
		if err := o.make(&owner, &job.Spec.Template, n-have[owner.key()], nil); err != nil {
			return err
		}
	}
	return nil
}

// owner is the workload to which added pods belong.
type owner struct {
	kind   string
	ref    string // kind and name of the pods' controller
	name   string
	prefix string
	meta   metav1.Object
}

func (w *owner) key() string { return w.kind + " " + w.meta.GetNamespace() + "/" + w.meta.GetName() }

func replicas(n *int32) int {
	if n == nil {
		return 1
	}
	return int(*n)
}

// owned returns the number of pods in the files that have not ended, by workload.
func (o *Objects) owned() map[string]int {
	above := map[string]string{} // ReplicaSet -> Deployment
	for _, rs := range o.ReplicaSets {
		if c := metav1.GetControllerOf(rs); c != nil {
			above[rs.Namespace+"/"+rs.Name] = c.Name
		}
	}
	out := map[string]int{}
	for _, p := range o.Pods {
		c := metav1.GetControllerOf(p)
		if c == nil || !p.DeletionTimestamp.IsZero() || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		kind, name := c.Kind, c.Name
		if kind == "ReplicaSet" {
			if deployment, ok := above[p.Namespace+"/"+name]; ok {
				kind, name = "Deployment", deployment
			} else if own, ok := strings.CutSuffix(name, "-"+p.Labels[appsv1.DefaultDeploymentUniqueLabelKey]); ok {
				if _, exists := o.sources["Deployment "+p.Namespace+"/"+own]; exists {
					kind, name = "Deployment", own
				}
			}
		}
		out[kind+" "+p.Namespace+"/"+name]++
	}
	return out
}

// templateHash returns a substitute for the hash in the names of a workload's pods.
func templateHash(kind, namespace, name string) string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	sum := fnv.New64a()
	_, _ = fmt.Fprintf(sum, "%s/%s/%s", kind, namespace, name) // a hash does not fail
	n := sum.Sum64()
	out := make([]byte, 5)
	for i := range out {
		out[i] = alphabet[n%uint64(len(alphabet))]
		n /= uint64(len(alphabet))
	}
	return string(out)
}

// make adds n pods of a workload.
func (o *Objects) make(w *owner, template *corev1.PodTemplateSpec, n int, labels map[string]string) error {
	for i := range max(0, n) {
		pod := newPod(w, template, fmt.Sprintf("%s%d", w.prefix, i))
		maps.Copy(pod.Labels, labels)
		if err := o.addPod(w, pod); err != nil {
			return err
		}
	}
	return nil
}

func newPod(w *owner, template *corev1.PodTemplateSpec, name string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: template.Spec}
	pod.Namespace, pod.Name = w.meta.GetNamespace(), name
	pod.Labels = maps.Clone(pod.Labels)
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	yes := true
	pod.OwnerReferences = []metav1.OwnerReference{{Kind: w.ref, Name: w.name, UID: w.meta.GetUID(), Controller: &yes}}
	pod.CreationTimestamp = w.meta.GetCreationTimestamp()
	return pod
}

func (o *Objects) addPod(w *owner, pod *corev1.Pod) error {
	at := o.sources[w.key()]
	key := "Pod " + pod.Namespace + "/" + pod.Name
	if other, ok := o.sources[key]; ok {
		return &Error{at, fmt.Errorf("%s makes %s, which stands at %s already", w.key(), key, other)}
	}
	if len(o.Pods) >= maxPods {
		return &Error{at, fmt.Errorf("%s: more than %d pods in all", w.key(), maxPods)}
	}
	pod.UID = types.UID(pod.Namespace + "/" + pod.Name)
	o.sources[key] = at
	o.Pods = append(o.Pods, pod)
	return nil
}

// statefulSet adds the missing pods of a StatefulSet, each with its claims.
func (o *Objects) statefulSet(sts *appsv1.StatefulSet) error {
	w := owner{kind: "StatefulSet", ref: "StatefulSet", name: sts.Name, meta: sts}
	first := 0
	if sts.Spec.Ordinals != nil {
		first = int(sts.Spec.Ordinals.Start)
	}
	for i := first; i < first+replicas(sts.Spec.Replicas); i++ {
		name := fmt.Sprintf("%s-%d", sts.Name, i)
		if _, ok := o.sources["Pod "+sts.Namespace+"/"+name]; ok {
			continue
		}
		pod := newPod(&w, &sts.Spec.Template, name)
		pod.Labels["apps.kubernetes.io/pod-index"] = fmt.Sprint(i)
		pod.Spec.Volumes = append([]corev1.Volume(nil), pod.Spec.Volumes...)
		for j := range sts.Spec.VolumeClaimTemplates {
			o.claim(sts, &sts.Spec.VolumeClaimTemplates[j], pod)
		}
		if err := o.addPod(&w, pod); err != nil {
			return err
		}
	}
	return nil
}

func (o *Objects) claim(sts *appsv1.StatefulSet, template *corev1.PersistentVolumeClaim, pod *corev1.Pod) {
	c := template.DeepCopy()
	c.Namespace, c.Name = sts.Namespace, template.Name+"-"+pod.Name
	key := "PersistentVolumeClaim " + c.Namespace + "/" + c.Name
	if _, ok := o.sources[key]; !ok {
		o.sources[key] = o.sources["StatefulSet "+sts.Namespace+"/"+sts.Name]
		o.VolumeClaims = append(o.VolumeClaims, c)
	}
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
		Name: template.Name,
		VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.Name},
		},
	})
}
