package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

// conflict finds a requirement of the pod that the labels of the pool's nodes break, and
// says how; "" when there is none, or when the pod leaves a choice of requirements.
func (f *filter) conflict() string {
	spec := f.pod.Spec
	for _, k := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		r := model.Requirement{Key: k, Operator: model.In, Values: []string{spec.NodeSelector[k]}}
		if text := f.breaks(&r); text != "" {
			return text
		}
	}
	if len(spec.Affinity) != 1 {
		return ""
	}
	for i := range spec.Affinity[0] {
		if text := f.breaks(&spec.Affinity[0][i]); text != "" {
			return text
		}
	}
	return ""
}

// breaks says how the labels of the pool's nodes break a requirement, "" when they do not.
func (f *filter) breaks(r *model.Requirement) string {
	value, ok := f.variant.Labels[r.Key]
	switch {
	case r.Key == constraint.LabelHostname:
		if !r.Matches(value, true) {
			return "the pod asks for a node by name (" + requirementText(r) + ")"
		}
	case f.pool.Defines(r.Key) && !f.pool.has(r):
		if required := f.pool.required(r.Key); required != "" {
			return fmt.Sprintf("the pod asks for %s, the NodePool requires %s", requirementText(r), required)
		}
		return fmt.Sprintf("the pod asks for %s, the NodePool's nodes do not have that label", requirementText(r))
	case ok && !r.Matches(value, true):
		return fmt.Sprintf("the pod asks for %s, the NodePool's nodes have %s=%s", requirementText(r), r.Key, value)
	}
	return ""
}

// has says whether a variant of the pool has a value that meets r.
func (p *Pool) has(r *model.Requirement) bool {
	return slices.ContainsFunc(p.Variants, func(x Variant) bool {
		v, ok := x.Labels[r.Key]
		return r.Matches(v, ok)
	})
}

// required writes the pool's requirements on a key.
func (p *Pool) required(key string) string {
	var parts []string
	for i := range p.Of.Requirements {
		if r := &p.Of.Requirements[i]; r.Key == key {
			parts = append(parts, requirementText(r))
		}
	}
	return strings.Join(parts, " and ")
}
