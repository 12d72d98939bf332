package rego

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// unknownSettings returns a note for each place that reads data.config.NAME where the
// configuration has no such name. It is undefined there, and so is what depends on it: a cap
// that misspells its limit is none. A policy that means it says object.get(data.config, …).
func unknownSettings(modules map[string]*ast.Module, data map[string]any) []string {
	config, _ := data["config"].(map[string]any)
	var out []string
	for _, m := range modules {
		ast.WalkRefs(m, func(r ast.Ref) bool {
			if len(r) < 3 || !r.HasPrefix(ast.MustParseRef("data.config")) {
				return false
			}
			name, ok := r[2].Value.(ast.String)
			if _, known := config[string(name)]; ok && !known {
				out = append(out, at(r[0].Location)+": data.config."+string(name)+" is undefined: the configuration has no "+string(name))
			}
			return false
		})
	}
	slices.Sort(out)
	return slices.Compact(out)
}
