package app

import (
	"slices"
	"unique"

	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// Pods take most of the controller's memory. These transforms keep what decisions,
// drains and events read, and drop the rest before an object is cached. The controller
// writes objects by patches and never by whole updates, so that dropped fields are not
// lost in the cluster.

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

func (t *templates) trimPod(o any) (any, error) {
	pod, ok := o.(*corev1.Pod)
	if !ok {
		return o, nil
	}
	u := uses{of: t}
	pod.ManagedFields = nil
	delete(pod.Annotations, lastApplied)
	pod.Namespace, pod.GenerateName = shared(pod.Namespace), ""
	if len(pod.Annotations) == 0 {
		pod.Annotations = nil
	}
	pod.Labels, pod.OwnerReferences = u.labelSet(pod.Labels), u.ownerList(pod.OwnerReferences)
	trimPodSpec(&pod.Spec)
	if pod.Spec.NodeName != "" { // once it is bound, the pod is equal to the others of its template again
		pod.Spec.Tolerations = slices.DeleteFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool { return t.Key == karpv1.TaintKeyReserved })
	}
	u.spec(&pod.Spec)
	endWith(pod, &u)
	pod.Status = corev1.PodStatus{
		Phase: pod.Status.Phase, Conditions: keepConditions(pod.Status.Conditions), StartTime: pod.Status.StartTime,
		NominatedNodeName: shared(pod.Status.NominatedNodeName), Reason: pod.Status.Reason,
		Resources: pod.Status.Resources, AllocatedResources: pod.Status.AllocatedResources,
		ContainerStatuses: keepResources(pod.Status.ContainerStatuses),
	}
	return pod, nil
}

func trimPodSpec(spec *corev1.PodSpec) {
	for _, list := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range list {
			c := &list[i]
			*c = corev1.Container{Name: c.Name, Resources: c.Resources, Ports: c.Ports, RestartPolicy: c.RestartPolicy}
		}
	}
	kept := spec.Volumes[:0]
	for _, v := range spec.Volumes {
		if v.PersistentVolumeClaim != nil || v.Ephemeral != nil {
			kept = append(kept, v)
		}
	}
	spec.Volumes = kept
	spec.EphemeralContainers, spec.ImagePullSecrets, spec.SecurityContext, spec.HostAliases, spec.DNSConfig = nil, nil, nil, nil, nil
	spec.ServiceAccountName, spec.DeprecatedServiceAccount = "", ""
}

// shared returns the one shared copy of a string that many objects have.
func shared(s string) string { return unique.Make(s).Value() }

func sharedMap(in map[string]string) map[string]string {
	if len(in) == 0 {
		return nil
	}
	out := make(map[string]string, len(in))
	for k, v := range in {
		out[shared(k)] = shared(v)
	}
	return out
}

// keepConditions keeps the conditions PodScheduled and PodReady.
func keepConditions(in []corev1.PodCondition) []corev1.PodCondition {
	var out []corev1.PodCondition
	for _, c := range in {
		if c.Type == corev1.PodScheduled || c.Type == corev1.PodReady {
			c.Message, c.Reason = "", shared(c.Reason)
			out = append(out, c)
		}
	}
	return out
}

// keepResources keeps the resources that running containers really have.
func keepResources(in []corev1.ContainerStatus) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for i := range in {
		if in[i].Resources != nil || in[i].AllocatedResources != nil {
			out = append(out, corev1.ContainerStatus{
				Name: in[i].Name, Resources: in[i].Resources, AllocatedResources: in[i].AllocatedResources,
			})
		}
	}
	return out
}

func (t *templates) trimNode(o any) (any, error) {
	node, ok := o.(*corev1.Node)
	if !ok {
		return o, nil
	}
	u := uses{of: t}
	node.ManagedFields = nil
	node.Labels = sharedMap(node.Labels)
	node.Status.Images, node.Status.VolumesInUse = nil, nil
	node.Status.Capacity, node.Status.Allocatable = sharedResources(&u, node.Status.Capacity), sharedResources(&u, node.Status.Allocatable)
	endWith(node, &u)
	info := &node.Status.NodeInfo
	for _, text := range []*string{&info.KernelVersion, &info.OSImage, &info.ContainerRuntimeVersion, &info.KubeletVersion, &info.OperatingSystem, &info.Architecture} {
		*text = shared(*text)
	}
	for i := range node.Status.Conditions {
		c := &node.Status.Conditions[i]
		c.Type, c.Reason, c.Message = corev1.NodeConditionType(shared(string(c.Type))), shared(c.Reason), shared(c.Message)
	}
	return node, nil
}

// trimClaim drops what a claim needs only until its instance runs: the options and the
// exact request, which are most of its size.
func (t *templates) trimClaim(o any) (any, error) {
	claim, ok := o.(*karpv1.NodeClaim)
	if !ok {
		return o, nil
	}
	u := uses{of: t}
	claim.ManagedFields = nil
	claim.Labels = sharedMap(claim.Labels)
	claim.Spec.Requirements = u.requirementList(claim.Spec.Requirements)
	if claim.Status.ProviderID != "" { // the condition Launched may be written by others
		delete(claim.Annotations, karpv1.AnnotationLaunch)
		delete(claim.Annotations, karpv1.AnnotationAttempt)
	}
	claim.Status.Capacity, claim.Status.Allocatable = sharedResources(&u, claim.Status.Capacity), sharedResources(&u, claim.Status.Allocatable)
	endWith(claim, &u)
	for i := range claim.Status.Conditions {
		c := &claim.Status.Conditions[i]
		c.Type, c.Reason, c.Message = shared(c.Type), shared(c.Reason), shared(c.Message)
	}
	return claim, nil
}
