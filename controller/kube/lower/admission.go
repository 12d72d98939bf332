package lower

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// admission holds what the API server adds to a new pod when it admits it: the defaults
// of LimitRanges, and the overhead, node selector and tolerations of RuntimeClasses.
// The pod templates of DaemonSets and manifests in files lack these.
type admission struct {
	limits  map[string][]*corev1.LimitRange // by namespace
	classes map[string]*nodev1.RuntimeClass
}

func newAdmission(in *Inputs) admission {
	a := admission{limits: map[string][]*corev1.LimitRange{}, classes: map[string]*nodev1.RuntimeClass{}}
	for _, l := range in.LimitRanges {
		a.limits[l.Namespace] = append(a.limits[l.Namespace], l)
	}
	for _, c := range in.RuntimeClasses {
		a.classes[c.Name] = c
	}
	return a
}

// admit returns the pod as the API server would store it. It does not change the pod it
// is given, and returns that pod itself when nothing applies to it.
func (a *admission) admit(pod *corev1.Pod) *corev1.Pod {
	var class *nodev1.RuntimeClass
	if name := pod.Spec.RuntimeClassName; name != nil {
		class = a.classes[*name]
	}
	ranges := a.limits[pod.Namespace]
	if class == nil && len(ranges) == 0 {
		return pod
	}
	out := *pod
	pod.Spec.DeepCopyInto(&out.Spec)
	if class != nil {
		applyRuntimeClass(&out.Spec, class)
	}
	for _, l := range ranges {
		for i := range l.Spec.Limits {
			if item := &l.Spec.Limits[i]; item.Type == corev1.LimitTypeContainer {
				eachContainer(&out.Spec, func(r *corev1.ResourceRequirements) { applyLimitRange(r, item) })
			}
		}
	}
	return &out
}

// applyRuntimeClass adds a RuntimeClass's node selector, and its overhead and tolerations unless
// the pod has them already.
// https://kubernetes.io/docs/concepts/containers/runtime-class/
func applyRuntimeClass(spec *corev1.PodSpec, class *nodev1.RuntimeClass) {
	if class.Overhead != nil && spec.Overhead == nil {
		spec.Overhead = class.Overhead.PodFixed
	}
	if class.Scheduling == nil {
		return
	}
	for key, value := range class.Scheduling.NodeSelector {
		if spec.NodeSelector == nil {
			spec.NodeSelector = map[string]string{}
		}
		spec.NodeSelector[key] = value
	}
	for _, t := range class.Scheduling.Tolerations {
		known := false
		for i := range spec.Tolerations {
			known = known || spec.Tolerations[i].MatchToleration(&t)
		}
		if !known {
			spec.Tolerations = append(spec.Tolerations, t)
		}
	}
}

// applyLimitRange fills in the requests and limits that a container lacks. A missing request is
// the first of these that is set: the container's own limit, then the LimitRange's
// defaultRequest, default, max and min. A missing limit is the LimitRange's default, or
// else its max.
// https://kubernetes.io/docs/concepts/policy/limit-range/
func applyLimitRange(r *corev1.ResourceRequirements, item *corev1.LimitRangeItem) {
	give := func(list *corev1.ResourceList, name corev1.ResourceName, q resource.Quantity) {
		if *list == nil {
			*list = corev1.ResourceList{}
		}
		if _, own := (*list)[name]; !own {
			(*list)[name] = q
		}
	}
	for name, q := range r.Limits {
		give(&r.Requests, name, q)
	}
	for _, from := range []corev1.ResourceList{item.DefaultRequest, item.Default, item.Max, item.Min} {
		for name, q := range from {
			give(&r.Requests, name, q)
		}
	}
	for _, from := range []corev1.ResourceList{item.Default, item.Max} {
		for name, q := range from {
			give(&r.Limits, name, q)
		}
	}
}
