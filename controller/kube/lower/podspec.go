package lower

import (
	corev1 "k8s.io/api/core/v1"
	helpers "k8s.io/component-helpers/resource"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/quantity"
	"spokeshave.dev/controller/core/model"
)

// PodSpec returns everything about a pod that placement depends on. A pod with volume
// claims comes out as unsupported; Build resolves them.
func PodSpec(pod *corev1.Pod) model.PodSpec {
	return withoutObjects().podSpec(pod)
}

// podLowerer lowers pods with the objects that they refer to by name.
type podLowerer struct {
	// live says that pods have been through the API server's admission.
	live       bool
	admission  admission
	hostnames  map[string]string
	priorities map[string]int32
	// defaultPriority is the priority of pods without a priority class.
	defaultPriority int32
	volumes         volumes
	namespaces      namespaces
	droppedLabels   labelSet
}

// withoutObjects returns a lowerer that knows no other objects.
func withoutObjects() *podLowerer { return &podLowerer{droppedLabels: allDroppable} }

func (s *podLowerer) podSpec(pod *corev1.Pod) model.PodSpec {
	if !s.live {
		pod = s.admission.admit(pod)
	}
	out := model.PodSpec{
		Namespace:    pod.Namespace,
		Labels:       s.droppedLabels.without(pod.Labels),
		Requests:     requests(pod),
		NodeSelector: normalizeSelector(pod.Spec.NodeSelector),
		Tolerations:  tolerations(pod.Spec.Tolerations),
		HostPorts:    hostPorts(&pod.Spec),
		Priority:     s.priority(&pod.Spec),
	}
	excess := excessOf(pod)
	out.Unsupported = append(out.Unsupported, excess...)
	if len(excess) > 0 {
		return out
	}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		var fields bool
		out.Affinity, fields = s.nodeSelectorTerms(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		if fields {
			out.Unsupported = append(out.Unsupported, "nodeAffinity.matchFields of another field than metadata.name")
		}
		out.Preferred = preferredTerms(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if len(pod.Spec.ResourceClaims) > 0 {
		out.Unsupported = append(out.Unsupported, "resourceClaims")
	}
	s.topology(pod, &out)
	s.volumes.countAttachments(pod, out.Requests)
	choices, problems := s.volumes.topologyTerms(pod)
	if len(choices) > 0 && len(out.Spread) > 0 {
		// The scheduler counts a domain by the pod's own node affinity. The affinity of
		// its volumes restricts where the pod may go, but not which domains are
		// counted.
		out.Pinned, out.OwnAffinity = true, out.Affinity
	}
	out.Unsupported = append(out.Unsupported, problems...)
	for _, c := range choices {
		var ok bool
		if out.Affinity, ok = conjunction(out.Affinity, c); !ok {
			out.Unsupported = append(out.Unsupported, "too many combinations of volume topology and node affinity")
			break
		}
	}
	return out
}

// requests returns the pod's effective requests by the scheduler's rules: the larger of
// the containers and sidecars together and the largest init container, plus the
// overhead, with pod-level resources in place of both where set. A limit without a
// request counts as a request, as the API server defaults it.
func requests(pod *corev1.Pod) model.Resources {
	list := helpers.PodRequests(withDefaultRequests(boundedPod(pod)), helpers.PodResourcesOptions{UseStatusResources: isResizing(pod)})
	out := positive(quantity.Resources(list))
	out[model.PodSlots] = 1
	return out
}

// isResizing reports that kubelet may still reserve other amounts for the pod than its
// spec requests.
func isResizing(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if (c.Type == corev1.PodResizePending || c.Type == corev1.PodResizeInProgress) && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// withDefaultRequests returns the pod with missing requests set from its limits. It copies the
// pod only when one is missing.
func withDefaultRequests(pod *corev1.Pod) *corev1.Pod {
	missing := false
	check := func(r *corev1.ResourceRequirements) {
		for name := range r.Limits {
			if _, ok := r.Requests[name]; !ok {
				missing = true
			}
		}
	}
	eachContainer(&pod.Spec, check)
	if !missing {
		return pod
	}
	out := &corev1.Pod{Status: pod.Status}
	pod.Spec.DeepCopyInto(&out.Spec)
	eachContainer(&out.Spec, func(r *corev1.ResourceRequirements) {
		for name, q := range r.Limits {
			if r.Requests == nil {
				r.Requests = corev1.ResourceList{}
			}
			if _, ok := r.Requests[name]; !ok {
				r.Requests[name] = q
			}
		}
	})
	return out
}

// eachContainer visits the resources of every container and init container, but not those of the
// pod itself.
func eachContainer(spec *corev1.PodSpec, visit func(*corev1.ResourceRequirements)) {
	for i := range spec.InitContainers {
		visit(&spec.InitContainers[i].Resources)
	}
	for i := range spec.Containers {
		visit(&spec.Containers[i].Resources)
	}
}

// Priorities that every cluster has.
// https://kubernetes.io/docs/tasks/administer-cluster/guaranteed-scheduling-critical-addon-pods/
const (
	nodeCritical    = 2000001000
	clusterCritical = 2000000000
)

func (s *podLowerer) priority(spec *corev1.PodSpec) int32 {
	if spec.Priority != nil {
		return *spec.Priority
	}
	switch spec.PriorityClassName {
	case "":
		return s.defaultPriority
	case "system-node-critical":
		return nodeCritical
	case "system-cluster-critical":
		return clusterCritical
	}
	return s.priorities[spec.PriorityClassName]
}

// tolerations lowers the pod's tolerations without those that the controller added, so
// that pods that were planned onto different nodes still have equal specs.
func tolerations(in []corev1.Toleration) []model.Toleration {
	var out []model.Toleration
	for _, t := range in {
		if t.Key == karpv1.TaintKeyReserved || t.Key == model.Placeholder { // no pod says this of itself
			continue
		}
		switch t.Operator {
		case "", corev1.TolerationOpEqual, corev1.TolerationOpExists:
			out = append(out, model.Toleration{
				Key: t.Key, Exists: t.Operator == corev1.TolerationOpExists, Value: t.Value, Effect: model.TaintEffect(t.Effect),
			})
		case corev1.TolerationOpLt, corev1.TolerationOpGt:
			// The API server accepts such a pod only while the feature gate is on.
			out = append(out, model.Toleration{
				Key: t.Key, Compare: model.Operator(t.Operator), Value: t.Value, Effect: model.TaintEffect(t.Effect),
			})
		}
	}
	return out
}

// hostPorts returns the node's ports that containers and sidecars use. A pod on the
// host's network uses its container ports.
func hostPorts(spec *corev1.PodSpec) []model.HostPort {
	var out []model.HostPort
	visit := func(c *corev1.Container) {
		for _, p := range c.Ports {
			port := p.HostPort
			if port == 0 && spec.HostNetwork {
				port = p.ContainerPort
			}
			if port == 0 {
				continue
			}
			h := model.HostPort{IP: p.HostIP, Protocol: string(p.Protocol), Port: port}
			if h.Protocol == "" {
				h.Protocol = string(corev1.ProtocolTCP)
			}
			if h.IP == "0.0.0.0" {
				h.IP = ""
			}
			out = append(out, h)
		}
	}
	for i := range spec.InitContainers {
		if isSidecar(&spec.InitContainers[i]) {
			visit(&spec.InitContainers[i])
		}
	}
	for i := range spec.Containers {
		visit(&spec.Containers[i])
	}
	return out
}

func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// normalizeSelector maps deprecated label keys to the keys with which nodes are
// planned. When both keys are there with different values, both stay.
func normalizeSelector(in map[string]string) map[string]string {
	for key := range in {
		if normalize(key) != key {
			return normalizeKeys(in)
		}
	}
	return in
}

func normalizeKeys(in map[string]string) map[string]string {
	out := make(map[string]string, len(in))
	for key, value := range in {
		to := normalize(key)
		if other, ok := in[to]; ok && to != key && other != value {
			to = key
		}
		out[to] = value
	}
	return out
}

// normalize maps deprecated label keys, and the zone label of the EBS driver, which
// nodes get only once the driver runs on them, to the standard key.
func normalize(key string) string {
	if key == "topology.ebs.csi.aws.com/zone" {
		return corev1.LabelTopologyZone
	}
	return karpv1.NormalizeLabel(key)
}

// positive deletes amounts of 0: a pod that requests none of a resource fits nodes
// without it.
func positive(r model.Resources) model.Resources {
	for name, n := range r {
		if n == 0 {
			delete(r, name)
		}
	}
	return r
}
