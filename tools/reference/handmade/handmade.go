// Package handmade reads the scenarios that were written by hand, one or more for each
// rule of Karpenter's constraint language. Each is a few lines of scenarios.yaml: what
// differs from a plain NodePool and from a plain pod. Our side reads the objects through
// controller/kube/lower, so that lowering is compared as well.
package handmade

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/rehearse/scenario"
	"spokeshave.dev/tools/reference/contrast"
	"spokeshave.dev/tools/reference/raise"
)

//go:embed scenarios.yaml
var scenarios []byte

//go:embed consolidations.yaml
var consolidations []byte

// entry is one scenario of the file.
type entry struct {
	Name     string         `json:"name"`
	Settings model.Settings `json:"settings"`
	// Pools are the specs of NodePools, without what every pool has. None stands for
	// one plain pool.
	Pools []object `json:"pools"`
	// Nodes run already.
	Nodes []running `json:"nodes"`
	// Pods are groups of equal pods.
	Pods []group `json:"pods"`
	// Objects are further objects, written out.
	Objects []object `json:"objects"`
	// Reserved is how many instances of m6i.x8 in us-west-2b are reserved.
	Reserved int `json:"reserved"`
	// Removed are the nodes that both consolidations remove in the end, Reference those
	// that the reference removes where these are others.
	Removed   []string  `json:"removed"`
	Reference *[]string `json:"reference"`
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
	// Owner is the kind of the pods' controller, ReplicaSet when empty.
	Owner       string            `json:"owner"`
	Annotations map[string]string `json:"annotations"`
}

// Cases reads all scenarios with pods that wait.
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

// Consolidation is a cluster with running nodes, and the nodes that each side removes of
// it in the end.
type Consolidation struct {
	*contrast.Case

	Ours, Theirs []string
}

// Consolidations reads all clusters with running nodes.
func Consolidations() ([]Consolidation, error) {
	var entries []entry
	if err := yaml.UnmarshalStrict(consolidations, &entries); err != nil {
		return nil, fmt.Errorf("consolidations.yaml: %w", err)
	}
	var out []Consolidation
	for i := range entries {
		e := &entries[i]
		c, err := e.read()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		x := Consolidation{Case: c, Ours: e.Removed, Theirs: e.Removed}
		if e.Reference != nil {
			x.Theirs = *e.Reference
		}
		out = append(out, x)
	}
	return out, nil
}

// now is the time of every scenario.
func now() time.Time { return time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC) }

func (e *entry) read() (*contrast.Case, error) {
	types := instanceTypes(e.Reserved)
	items, err := e.items(&types)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(object{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	var objects scenario.Objects
	if err := objects.Parse(e.Name, raw); err != nil {
		return nil, err
	}
	s, err := objects.Snapshot(scenario.Options{Time: now(), Catalog: &types, Settings: e.Settings})
	if err != nil {
		return nil, err
	}
	w, err := raise.Objects(&objects, &s)
	if err != nil {
		return nil, err
	}
	return &contrast.Case{Name: e.Name, Snapshot: &s, World: w}, nil
}

// items are the objects of the scenario, as a manifest would have them.
func (e *entry) items(types *model.Catalog) ([]any, error) {
	items := []any{object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "default", "labels": object{corev1.LabelMetadataName: "default"}}}}
	pools := e.Pools
	if len(pools) == 0 {
		pools = []object{{}}
	}
	for i, p := range pools {
		var disruption object
		if len(e.Nodes) > 0 {
			disruption = consolidated()
		}
		items = append(items, nodePool(fmt.Sprint("pool-", i), p, disruption))
	}
	for i := range e.Nodes {
		objects, err := e.Nodes[i].objects(types)
		if err != nil {
			return nil, err
		}
		items = append(items, objects...)
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
	return items, nil
}
