package handmade

import (
	"encoding/json"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// consolidated says of a NodePool that its nodes are consolidated after half a minute,
// without budgets.
func consolidated() object {
	return object{"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "30s", "budgets": []any{object{"nodes": "100%"}}}
}

// nodePool is a NodePool with the fields of spec; those of template go to its template, and
// those of its disruption over the given ones. nil stands for the API's own.
func nodePool(name string, spec, disruption object) object {
	template := object{}
	if t, ok := spec["template"].(object); ok {
		template = t
	}
	inner := object{"nodeClassRef": object{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements": []any{}}
	if t, ok := template["spec"].(object); ok {
		maps.Copy(inner, t)
	}
	whole := object{"spec": inner}
	if m, ok := template["metadata"]; ok {
		whole["metadata"] = m
	}
	out := object{"template": whole}
	for key, value := range spec {
		if key != "template" {
			out[key] = value
		}
	}
	if disruption != nil {
		if d, ok := spec["disruption"].(object); ok {
			maps.Copy(disruption, d)
		}
		out["disruption"] = disruption
	}
	return object{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": object{"name": name}, "spec": out}
}

func (g *group) pod(n int) *corev1.Pod {
	name := g.Name
	if name == "" {
		name = "a"
	}
	labels := map[string]string{"app": name}
	maps.Copy(labels, g.Labels)
	requests := map[string]string{"cpu": "500m", "memory": "512Mi"}
	if g.CPU != "" {
		requests["cpu"] = g.CPU
	}
	if g.Memory != "" {
		requests["memory"] = g.Memory
	}
	maps.Copy(requests, g.Resources)
	limits := object{}
	for k := range g.Resources {
		limits[k] = requests[k] // extended resources may not be overcommitted
	}
	spec := object{"containers": []any{object{"name": "main", "image": "none", "ports": g.Ports, "resources": object{"requests": requests, "limits": limits}}}}
	maps.Copy(spec, g.Spec)
	pod := &corev1.Pod{}
	if raw, err := json.Marshal(spec); err != nil || json.Unmarshal(raw, &pod.Spec) != nil {
		pod.Spec = corev1.PodSpec{} // a test says so: the pod has no container
	}
	pod.APIVersion, pod.Kind = "v1", "Pod"
	pod.ObjectMeta = metav1.ObjectMeta{
		Namespace: "default", Name: fmt.Sprintf("%s-%d", name, n), Labels: labels, UID: types.UID(fmt.Sprintf("%s-%04d", name, n)),
		Annotations: g.Annotations, OwnerReferences: []metav1.OwnerReference{g.owner(name)},
	}
	pod.Spec.NodeName = g.Node
	pod.Status.Phase = corev1.PodRunning
	if g.Node == "" {
		pod.Status.Phase = corev1.PodPending
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	}
	return pod
}

func (g *group) owner(name string) metav1.OwnerReference {
	out := metav1.OwnerReference{APIVersion: "apps/v1", Kind: g.Owner, Name: name, UID: types.UID(name), Controller: new(true)}
	switch g.Owner {
	case "":
		out.Kind = "ReplicaSet"
	case "Node":
		out.APIVersion, out.Name, out.UID = "v1", g.Node, types.UID(g.Node)
	case "Job":
		out.APIVersion = "batch/v1"
	}
	return out
}
