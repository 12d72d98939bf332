// Package burst makes the workloads of the live measurements (cmd/live): Deployments
// whose pods a cluster asks for at once, drawn at random from a seed. The same seed
// gives the same workloads.
package burst

import (
	"fmt"
	"math/rand/v2"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Namespace is the namespace of all workloads.
const Namespace = "live"

// Kinds are the names of the mixes that [Deployments] knows.
func Kinds() []string { return []string{"web", "diverse"} }

// Deployments returns the Deployments of a mix that have so many pods together. The
// error names the mixes that there are.
func Deployments(kind string, pods int, seed uint64) ([]*appsv1.Deployment, error) {
	r := rand.New(rand.NewPCG(seed, 0x6c697665))
	switch kind {
	case "web":
		return web(r, pods), nil
	case "diverse":
		return diverse(r, pods), nil
	default:
		return nil, fmt.Errorf("%q is no mix of workloads; want one of %q", kind, Kinds())
	}
}

// web is forty Deployments of services: 50m to 2 CPUs and 128 MiB to 4 GiB a pod; every
// third is spread over zones.
func web(r *rand.Rand, pods int) []*appsv1.Deployment {
	out := make([]*appsv1.Deployment, 0, 40)
	for i, replicas := range divide(r, pods, min(40, pods)) {
		d := deployment(fmt.Sprintf("web-%02d", i), replicas, int64(1+r.IntN(40))*50, int64(1+r.IntN(32))<<27)
		if i%3 == 0 {
			d.Spec.Template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spread(corev1.LabelTopologyZone, d.Spec.Selector)}
		}
		out = append(out, d)
	}
	return out
}

// diverse is Deployments of one or two pods with small requests. A fifth each has no
// constraint, is spread over zones, is spread over hosts, keeps to one zone, and shares
// no host with its like; seven labels are shared by all of a kind.
func diverse(r *rand.Rand, pods int) []*appsv1.Deployment {
	cpu := []int64{100, 250, 500, 1000, 1500}
	memory := []int64{100 << 20, 256 << 20, 512 << 20, 1 << 30, 2 << 30, 4 << 30}
	var out []*appsv1.Deployment
	for made := 0; made < pods; {
		replicas := min(1+r.IntN(2), pods-made)
		d := deployment(fmt.Sprintf("diverse-%03d", len(out)), replicas, cpu[r.IntN(len(cpu))], memory[r.IntN(len(memory))])
		made += replicas
		constrain(r, d)
		out = append(out, d)
	}
	return out
}

// constrain adds one of five kinds of constraints.
func constrain(r *rand.Rand, d *appsv1.Deployment) {
	label := func(key, value string) *metav1.LabelSelector {
		d.Spec.Template.Labels[key] = value
		return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
	}
	letter := string(rune('a' + r.IntN(7)))
	spec := &d.Spec.Template.Spec
	switch r.IntN(5) {
	case 0:
		spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spread(corev1.LabelTopologyZone, label("zones", letter))}
	case 1:
		spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spread(corev1.LabelHostname, label("hosts", letter))}
	case 2:
		spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: corev1.LabelTopologyZone, LabelSelector: label("together", letter)},
		}}}
	case 3:
		spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: corev1.LabelHostname, LabelSelector: label("apart", "true")},
		}}}
	}
}

// divide divides n into so many parts of at least one at random.
func divide(r *rand.Rand, n, parts int) []int {
	cuts := r.Perm(n - 1)[:parts-1]
	for i := range cuts {
		cuts[i]++
	}
	slices.Sort(cuts)
	out, last := make([]int, 0, parts), 0
	for _, c := range append(cuts, n) {
		out = append(out, c-last)
		last = c
	}
	return out
}

func spread(key string, over *metav1.LabelSelector) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{TopologyKey: key, MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: over}
}

// deployment is a Deployment of pods that request so many millicores and bytes.
func deployment(name string, replicas int, cpu, memory int64) *appsv1.Deployment {
	n, labels := int32(replicas), map[string]string{"app": name}
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &n, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: PodSpec(cpu, memory)},
		},
	}
}

// PodSpec is the spec of a pod of one container that requests so many millicores and
// bytes.
func PodSpec(cpu, memory int64) corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{
		Name: "main", Image: "example.com/main:1",
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: *resource.NewMilliQuantity(cpu, resource.DecimalSI), corev1.ResourceMemory: *resource.NewQuantity(memory, resource.BinarySI),
		}},
	}}}
}
