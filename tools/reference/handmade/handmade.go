// Package handmade reads the scenarios that were written by hand, one or more for each
// rule of Karpenter's constraint language. Each is a few lines of scenarios.yaml: what
// differs from a plain NodePool and from a plain pod. Our side reads the objects through
// controller/kube/lower, so that lowering is compared as well.
package handmade

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/rehearse/scenario"
	"spokeshave.dev/tools/reference/contrast"
)

//go:embed scenarios.yaml
var scenarios []byte

// entry is one scenario of the file.
type entry struct {
	Name     string         `json:"name"`
	Settings model.Settings `json:"settings"`
	// Pools are the specs of NodePools, without what every pool has. None stands for
	// one plain pool.
	Pools []object `json:"pools"`
	// Pods are groups of equal pods.
	Pods []group `json:"pods"`
	// Objects are further objects, written out.
	Objects []object `json:"objects"`
	// Reserved is how many instances of m6i.x8 in us-west-2b are reserved.
	Reserved int `json:"reserved"`
}

type object = map[string]any

// group is a number of equal pods.
type group struct {
	Name   string            `json:"name"`
	N      int               `json:"count"`
	CPU    string            `json:"cpu"`
	Memory string            `json:"memory"`
	Labels map[string]string `json:"labels"`
	// Resources are further requests.
	Resources map[string]string `json:"resources"`
	Ports     []object          `json:"ports"`
	// Spec are further fields of the pods' spec.
	Spec object `json:"spec"`
	// Node is where the pods run; empty for pending ones.
	Node string `json:"node"`
}

// Cases reads all scenarios.
func Cases() ([]*contrast.Case, error) {
	var entries []entry
	if err := yaml.UnmarshalStrict(scenarios, &entries); err != nil {
		return nil, fmt.Errorf("scenarios.yaml: %w", err)
	}
	var out []*contrast.Case
	for i := range entries {
		c, err := entries[i].read()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entries[i].Name, err)
		}
		out = append(out, c)
	}
	return out, nil
}

func (e *entry) read() (*contrast.Case, error) {
	raw, err := json.Marshal(object{"apiVersion": "v1", "kind": "List", "items": e.items()})
	if err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	var objects scenario.Objects
	if err := objects.Parse(e.Name, raw); err != nil {
		return nil, err
	}
	types := instanceTypes(e.Reserved)
	s, err := objects.Snapshot(scenario.Options{Time: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC), Catalog: &types, Settings: e.Settings})
	if err != nil {
		return nil, err
	}
	w, err := world(&objects, &s)
	if err != nil {
		return nil, err
	}
	return &contrast.Case{Name: e.Name, Snapshot: &s, World: w}, nil
}

// items are the objects of the scenario, as a manifest would have them.
func (e *entry) items() []any {
	items := []any{object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "default", "labels": object{corev1.LabelMetadataName: "default"}}}}
	pools := e.Pools
	if len(pools) == 0 {
		pools = []object{{}}
	}
	for i, p := range pools {
		items = append(items, nodePool(fmt.Sprint("pool-", i), p))
	}
	for i := range e.Pods {
		g := &e.Pods[i]
		for n := range max(1, g.N) {
			items = append(items, g.pod(n))
		}
	}
	for _, o := range e.Objects {
		items = append(items, o)
	}
	return items
}

// nodePool is a NodePool with the fields of spec; those of template go to its template.
func nodePool(name string, spec object) object {
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
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name, UID: types.UID(name), Controller: new(true)}},
	}
	pod.Spec.NodeName = g.Node
	pod.Status.Phase = corev1.PodRunning
	if g.Node == "" {
		pod.Status.Phase = corev1.PodPending
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	}
	return pod
}
