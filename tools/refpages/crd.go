package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// kind is a custom resource with a page.
type kind struct {
	name, file, definition string
	// who says who reads the page, and what for.
	who string
	// see is what to read besides.
	see string
}

func kinds() []kind {
	return []kind{
		{
			"NodePool", "nodepool.md", "karpenter.sh_nodepools.yaml",
			"For people who write NodePools: which nodes may exist, and how they may be disrupted.",
			"[An example](../../examples/quickstart) · [Tasks](../tasks/README.md) · [Conditions, labels, annotations](names.md)",
		},
		{
			"NodeClaim", "nodeclaim.md", "karpenter.sh_nodeclaims.yaml",
			"For people who look at a NodeClaim: one requested instance, from launch to termination. The controller writes them; " +
				"one that somebody else writes is [launched, too](../adr/0068-claims-get-decisions.md).",
			"[How a pod gets a node](../concepts/how-a-pod-gets-a-node.md) · [Conditions, labels, annotations](names.md)",
		},
		{
			"EC2NodeClass", "ec2nodeclass.md", "karpenter.k8s.aws_ec2nodeclasses.yaml",
			"For people who write EC2NodeClasses: how instances are launched.",
			"[An example](../../examples/quickstart) · [On AWS](../aws.md) · [Conditions, labels, annotations](names.md)",
		},
	}
}

func (k *kind) page(root string) (string, error) {
	file := filepath.Join(root, "charts/spokeshave/files/crds", k.definition)
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read definition: %w", err)
	}
	var definition struct {
		Spec struct {
			Group, Scope string
			Versions     []struct {
				Name   string
				Schema struct {
					V3 schema `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(raw, &definition); err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	d := definition.Spec
	if len(d.Versions) != 1 {
		return "", fmt.Errorf("read %s: %d versions, and a page tells one", file, len(d.Versions))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", k.name, k.who)
	fmt.Fprintf(&b, "`apiVersion: %s/%s`, `kind: %s`, %s-scoped. Made from `charts/spokeshave/files/crds/%s` by `make generate`.\n\n%s\n",
		d.Group, d.Versions[0].Name, k.name, strings.ToLower(d.Scope), k.definition, k.see)
	top := d.Versions[0].Schema.V3
	for _, part := range []string{"spec", "status"} {
		inner := top.Properties[part]
		if err := inner.sections(&b, part); err != nil {
			return "", fmt.Errorf("%s: %w", k.definition, err)
		}
	}
	return b.String(), nil
}

// sections writes a section about the fields of an object, and one for each object in it.
func (s *schema) sections(b *strings.Builder, path string) error {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", path, sentence(prose(s.Description)))
	if len(s.Rules) > 0 {
		rules := make([]string, 0, len(s.Rules))
		for _, r := range s.Rules {
			rules = append(rules, "Rule: "+sentence(prose(r.Message)))
		}
		fmt.Fprintf(b, "%s\n\n", strings.Join(rules, " "))
	}
	var later []func() error
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		if p.Description == "" {
			return fmt.Errorf("%s.%s has no description", path, name)
		}
		text := []string{sentence(prose(p.Description))}
		if inner, at := p.object(path + "." + name); inner != nil && !known(name) {
			text = append(text, fmt.Sprintf("[Its fields](#%s).", anchor(at)))
			later = append(later, func() error { return inner.sections(b, at) })
			if p.Type == "object" {
				p.Rules = nil // the section has them
			}
		} else if inner != nil {
			text = append(text, fmt.Sprintf("Fields: %s.", strings.Join(quoted(inner.Properties), ", ")))
		}
		text = append(text, p.limits()...)
		what := p.kind()
		if s.needs(name) {
			what += ", required"
		}
		if p.Default != nil {
			what += ", default " + value(p.Default)
		}
		if p.Preserve {
			text = append(text, "Other fields are kept as they are.")
		}
		item(b, name, what, text)
	}
	for _, next := range later {
		if err := next(); err != nil {
			return err
		}
	}
	return nil
}

// object is the schema of the object that a field holds or has a list of, with its path.
func (s *schema) object(path string) (*schema, string) {
	switch {
	case len(s.Properties) > 0:
		return s, path
	case s.Items != nil && len(s.Items.Properties) > 0:
		return s.Items, path + "[]"
	}
	return nil, ""
}

// known reports whether a field has a type of Kubernetes', which its documentation tells.
func known(field string) bool {
	return slices.Contains([]string{"conditions", "taints", "startupTaints"}, field)
}

func quoted(properties map[string]schema) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		out = append(out, code(name))
	}
	return out
}

// anchor is the name of a heading in links.
func anchor(heading string) string {
	return strings.NewReplacer(".", "", "[", "", "]", "", "/", "").Replace(strings.ToLower(heading))
}

// asSchema reads a schema from what JSON has made of it, nil for none.
func asSchema(v any) *schema {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	out := &schema{}
	if json.Unmarshal(raw, out) != nil {
		return nil
	}
	return out
}
