// Command crdpatch adds to generated custom resource definitions what
// kubebuilder markers cannot say: constraints on fields of types that are not
// ours (taints, conditions) and on the values of maps (labels, quantities).
//
//	crdpatch DIR
//
// Everything that a marker can say belongs beside the Go type in api/ instead.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

const (
	qualifiedName = `^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`
	labelValue    = `^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
	quantity      = `^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+))?$`
	duration      = `^[+-]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+$`
	// upperTime matches no time with a t or z in lower case, which the API server takes for one and Go does not.
	upperTime = `^[^tz]*$`
	threshold = `^(([0-9]{1,2}(\.[0-9]{1,2})?|100(\.0{1,2})?)%|[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+))?)$`
)

// patch sets keys of the schema node at path; a nil value removes the key.
type patch struct {
	path []string
	set  map[string]any
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: crdpatch DIR")
		os.Exit(2)
	}
	for file, patches := range all() {
		if err := apply(filepath.Join(os.Args[1], file), patches); err != nil {
			fmt.Fprintln(os.Stderr, "crdpatch:", err)
			os.Exit(1)
		}
	}
}

// all returns the patches by file name.
func all() map[string][]patch {
	template := []string{"spec", "template"}
	claim := taints("spec")
	claim = append(claim, patch{
		// Claims written by early versions of the API have conditions without a reason or message.
		path: []string{"status", "conditions", "[]"},
		set:  map[string]any{"required": []any{"lastTransitionTime", "status", "type"}},
	}, patch{
		path: []string{"status", "conditions", "[]", "reason"},
		set:  map[string]any{"minLength": nil, "pattern": `^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?)?$`},
	})
	pool := taints("spec", "template", "spec")
	pool = append(pool, patch{
		path: append(template, "metadata", "labels", "{}"),
		set:  map[string]any{"maxLength": 63, "pattern": labelValue},
	})
	var class []patch
	for field, pattern := range map[string]string{
		"kubeReserved": quantity, "systemReserved": quantity, "evictionHard": threshold, "evictionSoft": threshold,
	} {
		class = append(class, patch{path: []string{"spec", "kubelet", field, "{}"}, set: map[string]any{"pattern": pattern}})
	}
	class = append(class, patch{path: []string{"spec", "kubelet", "evictionSoftGracePeriod", "{}"}, set: map[string]any{"pattern": duration}})
	return map[string][]patch{
		"karpenter.sh_nodeclaims.yaml":          claim,
		"karpenter.sh_nodepools.yaml":           pool,
		"karpenter.k8s.aws_ec2nodeclasses.yaml": class,
	}
}

// taints returns the patches of taints and startupTaints in the object at parent.
func taints(parent ...string) []patch {
	var out []patch
	for _, list := range []string{"taints", "startupTaints"} {
		at := func(field string) []string { return append(append([]string{}, parent...), list, "[]", field) }
		out = append(out,
			patch{at("key"), map[string]any{"minLength": 1, "pattern": qualifiedName}},
			patch{at("value"), map[string]any{"pattern": `^(` + qualifiedName[1:len(qualifiedName)-1] + `)?$`}},
			patch{at("effect"), map[string]any{"enum": []any{"NoSchedule", "PreferNoSchedule", "NoExecute"}}},
		)
	}
	return out
}

// boundTimes adds the pattern of times to every schema node that is one.
func boundTimes(node any) {
	switch n := node.(type) {
	case map[string]any:
		if n["format"] == "date-time" {
			n["pattern"] = upperTime
		}
		for _, child := range n {
			boundTimes(child)
		}
	case []any:
		for _, child := range n {
			boundTimes(child)
		}
	}
}

// apply rewrites one file. A path that does not exist is an error: the patch
// has outlived its field.
func apply(file string, patches []patch) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var crd struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   map[string]any `json:"metadata"`
		Spec       map[string]any `json:"spec"`
	}
	if err := yaml.UnmarshalStrict(raw, &crd); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	versions, _ := crd.Spec["versions"].([]any)
	for _, v := range versions {
		for _, p := range patches {
			node, err := find(v, append([]string{"openAPIV3Schema"}, p.path...))
			if err != nil {
				return fmt.Errorf("patch %s: %w", file, err)
			}
			for key, value := range p.set {
				if value == nil {
					delete(node, key)
				} else {
					node[key] = value
				}
			}
		}
	}
	for _, v := range versions {
		boundTimes(v)
	}
	out, err := yaml.Marshal(crd)
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return os.WriteFile(file, append([]byte("---\n"), out...), 0o644)
}

// find walks from a version of a definition to a schema node: a name is a
// property, "[]" the items of a list, "{}" the values of a map.
func find(version any, path []string) (map[string]any, error) {
	v, _ := version.(map[string]any)
	node, _ := v["schema"].(map[string]any)
	for i, step := range path {
		var next any
		switch properties, _ := node["properties"].(map[string]any); {
		case step == "openAPIV3Schema":
			next = node[step]
		case step == "[]":
			next = node["items"]
		case step == "{}":
			next = node["additionalProperties"]
		default:
			next = properties[step]
		}
		var ok bool
		if node, ok = next.(map[string]any); !ok {
			return nil, fmt.Errorf("no schema at %v", path[:i+1])
		}
	}
	return node, nil
}
