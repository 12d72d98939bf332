package anonymize

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// names maps every old name to a new one. The first passes over a snapshot only collect
// names and change nothing.
type names struct {
	seen map[string]bool
	// new is nil while collecting.
	new map[string]string
	// numeric are label keys whose values are compared as numbers.
	numeric map[string]bool
}

// number assigns the new names, in the order of the old ones.
func (n *names) number() {
	sorted := slices.Sorted(maps.Keys(n.seen))
	width := len(fmt.Sprint(len(sorted)))
	n.new = make(map[string]string, len(sorted))
	for i, old := range sorted {
		n.new[old] = fmt.Sprintf("x%0*d", width, i+1)
	}
}

func (n *names) name(old string) string {
	switch {
	case old == "":
		return ""
	case n.new == nil:
		n.seen[old] = true
		return old
	default:
		return n.new[old]
	}
}

func (n *names) all(list []string) {
	for i := range list {
		list[i] = n.name(list[i])
	}
}

func (n *names) key(old string) string {
	if publicKey(old) {
		return old
	}
	return n.name(old)
}

// value returns the new value of a label. Values of public labels, and of keys that are
// compared as numbers, stay.
func (n *names) value(key, old string) string {
	if old == "true" || old == "false" || publicValues(key) || n.numeric[key] {
		return old
	}
	return n.name(old)
}

func (n *names) labels(in map[string]string) map[string]string {
	if in == nil {
		return nil
	}
	out := make(map[string]string, len(in))
	for k, v := range in {
		out[n.key(k)] = n.value(k, v)
	}
	return out
}

func (n *names) resources(in model.Resources) model.Resources {
	if in == nil {
		return nil
	}
	out := make(model.Resources, len(in))
	for k, v := range in {
		if !publicResource(k) {
			k = n.name(k)
		}
		out[k] = v
	}
	return out
}

func (n *names) requirements(in []model.Requirement) {
	for i := range in {
		r := &in[i]
		switch r.Operator {
		case model.Gt, model.Lt, model.Gte, model.Lte:
			n.numeric[r.Key] = true
		case model.In, model.NotIn, model.Exists, model.DoesNotExist:
		}
		for k := range r.Values {
			r.Values[k] = n.value(r.Key, r.Values[k])
		}
		// Values are compared as a set, and kept sorted where that matters.
		r.Key = n.key(r.Key)
	}
}

func (n *names) taints(in []model.Taint) {
	for i := range in {
		in[i].Value = n.value(in[i].Key, in[i].Value)
		in[i].Key = n.key(in[i].Key)
	}
}

func (n *names) selector(s *model.PodSelector) {
	n.all(s.Namespaces)
	n.requirements(s.Labels)
}

func (n *names) terms(in []model.PodTerm) {
	for i := range in {
		in[i].Key = n.key(in[i].Key)
		n.selector(&in[i].Selector)
	}
}

func (n *names) weighted(in []model.WeightedPodTerm) {
	for i := range in {
		in[i].Term.Key = n.key(in[i].Term.Key)
		n.selector(&in[i].Term.Selector)
	}
}

// workload renames a text of the form "Kind/name".
func (n *names) workload(old string) string {
	kind, name, ok := strings.Cut(old, "/")
	if !ok {
		return n.name(old)
	}
	return kind + "/" + n.name(name)
}

// owner renames a text of the form "kind/namespace/name"; "" stays.
func (n *names) owner(old string) string {
	kind, rest, _ := strings.Cut(old, "/")
	namespace, name, ok := strings.Cut(rest, "/")
	if !ok {
		return n.name(old)
	}
	return kind + "/" + n.name(namespace) + "/" + n.name(name)
}

// scope renames a text of the form "cluster", "nodepool/<name>", "label/<key>=<value>"
// or "namespace/<name>".
func (n *names) scope(old string) string {
	kind, rest, ok := strings.Cut(old, "/")
	switch {
	case !ok && kind == "cluster":
		return old
	case kind == "label":
		key, value, _ := strings.Cut(rest, "=")
		return kind + "/" + n.key(key) + "=" + n.value(key, value)
	default:
		return kind + "/" + n.name(rest)
	}
}
