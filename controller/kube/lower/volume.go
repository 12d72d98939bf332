package lower

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"spokeshave.dev/controller/core/model"
)

// volumes finds where pods may run because of their volume claims.
type volumes struct {
	claims       map[string]*corev1.PersistentVolumeClaim // by namespace/name
	volumes      map[string]*corev1.PersistentVolume
	classes      map[string]*storagev1.StorageClass
	defaultClass string
	// limited holds the CSI drivers that limit the number of volumes on some node.
	limited map[string]bool
	static  staticVolumes
}

func newVolumes(in *Inputs) volumes {
	v := volumes{
		claims:  make(map[string]*corev1.PersistentVolumeClaim, len(in.VolumeClaims)),
		volumes: make(map[string]*corev1.PersistentVolume, len(in.Volumes)),
		classes: make(map[string]*storagev1.StorageClass, len(in.StorageClasses)),
		limited: limitedDrivers(in.CSINodes),
	}
	for _, c := range in.VolumeClaims {
		v.claims[c.Namespace+"/"+c.Name] = c
	}
	for _, p := range in.Volumes {
		v.volumes[p.Name] = p
	}
	for _, c := range in.StorageClasses {
		v.classes[c.Name] = c
	}
	if c := defaultClass(in.StorageClasses); c != nil {
		v.defaultClass = c.Name
	}
	v.static = newStaticVolumes(in)
	return v
}

// defaultClass returns the class of claims that name none. Of several default classes
// it is the newest, as in the API server, then the first by name; nil when there is
// none.
// https://kubernetes.io/docs/concepts/storage/storage-classes/#default-storageclass
func defaultClass(all []*storagev1.StorageClass) *storagev1.StorageClass {
	var best *storagev1.StorageClass
	for _, c := range all {
		if c.Annotations["storageclass.kubernetes.io/is-default-class"] != "true" &&
			c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] != "true" {
			continue
		}
		switch {
		case best == nil, best.CreationTimestamp.Before(&c.CreationTimestamp),
			best.CreationTimestamp.Equal(&c.CreationTimestamp) && c.Name < best.Name:
			best = c
		}
	}
	return best
}

// topologyTerms returns, for every volume that restricts where the pod may run, the
// alternatives (terms of which one must hold). problems describes the claims that no
// node can satisfy.
func (v *volumes) topologyTerms(pod *corev1.Pod) (choices [][]model.Term, problems []string) {
	for i := range pod.Spec.Volumes {
		name, template := claimOf(pod, &pod.Spec.Volumes[i])
		if name == "" {
			continue
		}
		terms, problem := v.claimTerms(pod, name, template)
		if problem != "" {
			problems = append(problems, problem)
		}
		if terms != nil {
			choices = append(choices, terms)
		}
	}
	return choices, problems
}

// VolumeClaims returns the names of the claims of the pod's volumes.
func VolumeClaims(pod *corev1.Pod) []string {
	var out []string
	for i := range pod.Spec.Volumes {
		if name, _ := claimOf(pod, &pod.Spec.Volumes[i]); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// claimOf returns the name of a volume's claim, "" when it has none. For an ephemeral
// volume, whose claim is created with the pod, it also returns the template.
func claimOf(pod *corev1.Pod, vol *corev1.Volume) (string, *corev1.PersistentVolumeClaimSpec) {
	switch {
	case vol.PersistentVolumeClaim != nil:
		return vol.PersistentVolumeClaim.ClaimName, nil
	case vol.Ephemeral != nil && vol.Ephemeral.VolumeClaimTemplate != nil:
		return pod.Name + "-" + vol.Name, &vol.Ephemeral.VolumeClaimTemplate.Spec
	}
	return "", nil
}

func (v *volumes) claimTerms(pod *corev1.Pod, name string, template *corev1.PersistentVolumeClaimSpec) (terms []model.Term, problem string) {
	spec, key := template, pod.Namespace+"/"+name
	if c, ok := v.claims[key]; ok {
		switch { // the scheduler binds no pod with such a claim
		case !c.DeletionTimestamp.IsZero():
			return nil, fmt.Sprintf("volume claim %s, which is being deleted", key)
		case c.Status.Phase == corev1.ClaimLost:
			return nil, fmt.Sprintf("volume claim %s, which has lost its volume %s", key, c.Spec.VolumeName)
		}
		spec = &c.Spec
	}
	if spec == nil {
		return nil, fmt.Sprintf("volume claim %s, which does not exist", key)
	}
	if spec.VolumeName != "" {
		return v.boundTerms(pod, key, spec.VolumeName)
	}
	className := v.defaultClass
	if spec.StorageClassName != nil {
		className = *spec.StorageClassName
	}
	class, ok := v.classes[className]
	switch {
	case !ok:
		return nil, fmt.Sprintf("unbound volume claim %s of storage class %q, which does not exist", key, className)
	case class.VolumeBindingMode == nil || *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer:
		return nil, fmt.Sprintf("unbound volume claim %s of storage class %q, which does not wait for its first consumer", key, className)
	case class.Provisioner == noProvisioner:
		if terms, anywhere := v.static.termsFor(key, className, spec); anywhere || len(terms) > 0 {
			return terms, ""
		}
		return nil, fmt.Sprintf("unbound volume claim %s of storage class %q, which provisions nothing and has no volume to bind", key, className)
	}
	return topologies(class.AllowedTopologies), ""
}

// boundTerms returns the terms of the volume that the pod's claim with the key is bound to.
func (v *volumes) boundTerms(pod *corev1.Pod, key, volume string) (terms []model.Term, problem string) {
	p, ok := v.volumes[volume]
	if !ok {
		return nil, fmt.Sprintf("volume claim %s, whose volume %s does not exist", key, volume)
	}
	if p.Spec.NodeAffinity == nil {
		return nil, ""
	}
	terms, fields := (&podLowerer{}).nodeSelectorTerms(p.Spec.NodeAffinity.Required)
	if fields {
		return nil, fmt.Sprintf("volume claim %s, whose volume selects node fields", key)
	}
	if pod.Spec.NodeName != "" && (p.Spec.Local != nil || p.Spec.HostPath != nil) {
		terms = withoutHostname(terms)
	}
	return terms, ""
}

// withoutHostname drops the requirements on the host name from the terms of a volume on a
// node's own disk, nil when nothing else is required. The pod leaves the disk behind when
// its node goes; as in Karpenter, that must not keep the node for ever.
func withoutHostname(terms []model.Term) []model.Term {
	out := make([]model.Term, 0, len(terms))
	for _, t := range terms {
		rest := slices.DeleteFunc(slices.Clone(t), func(r model.Requirement) bool { return r.Key == corev1.LabelHostname })
		if len(rest) == 0 {
			return nil
		}
		out = append(out, rest)
	}
	return out
}

// topologies returns where a storage class provisions volumes, nil when anywhere.
func topologies(in []corev1.TopologySelectorTerm) []model.Term {
	var out []model.Term
	for i := range in {
		t := make(model.Term, 0, len(in[i].MatchLabelExpressions))
		for _, e := range in[i].MatchLabelExpressions {
			t = append(t, model.Requirement{Key: normalize(e.Key), Operator: model.In, Values: e.Values})
		}
		if len(t) == 0 {
			return nil
		}
		out = append(out, t)
	}
	return out
}
