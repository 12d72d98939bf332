package rego

import (
	"maps"

	"github.com/open-policy-agent/opa/v1/ast"

	"spokeshave.dev/controller/core/policy"
)

// Schema returns the JSON schema of a hook's input document, against which policies
// are checked.
func Schema(hook policy.Hook) map[string]any {
	switch hook {
	case policy.HookRank:
		return closed(map[string]any{"offering": describe(offeringFields()), "pool": describe(poolFields())})
	case policy.HookConsolidate:
		return closed(map[string]any{"candidate": describe(candidateFields())})
	case policy.HookCeiling:
		return closed(map[string]any{
			"launch": describe(launchFields()),
			"spend":  map[string]any{"type": "object", "additionalProperties": describe(spendFields())},
			"time":   map[string]any{"type": "string"},
		})
	}
	return nil
}

func closed(properties map[string]any) map[string]any {
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}

func describe[T any](fields []field[T]) map[string]any {
	properties := map[string]any{}
	for i := range fields {
		word := map[string]any{"type": "string"}
		switch fields[i].kind {
		case number:
			properties[fields[i].name] = map[string]any{"type": "number"}
		case text:
			properties[fields[i].name] = word
		case labels:
			properties[fields[i].name] = map[string]any{"type": "object", "additionalProperties": word}
		case texts:
			properties[fields[i].name] = map[string]any{"type": "array", "items": word}
		}
	}
	return closed(properties)
}

// schemas gives each hook's package its own input. All other packages of the policy
// get the inputs of all its hooks.
func schemas(modules map[string]*ast.Module, hooks []policy.Hook) *ast.SchemaSet {
	set, all := ast.NewSchemaSet(), map[string]any{}
	for _, hook := range hooks {
		schema := Schema(hook)
		maps.Copy(all, schema["properties"].(map[string]any))
		set.Put(schemaRef(hook), any(schema))
	}
	set.Put(ast.SchemaRootRef, any(closed(all)))
	for _, module := range modules {
		if hook := hookOf(module); hook != "" {
			module.Annotations = append(module.Annotations, annotate(module, hook))
		}
	}
	return set
}

func schemaRef(hook policy.Hook) ast.Ref {
	return ast.SchemaRootRef.Append(ast.StringTerm(string(hook)))
}

func annotate(module *ast.Module, hook policy.Hook) *ast.Annotations {
	a := &ast.Annotations{
		Scope:    "package",
		Location: module.Package.Location,
		Schemas:  []*ast.SchemaAnnotation{{Path: ast.InputRootRef.Copy(), Schema: schemaRef(hook)}},
	}
	return a.Copy(module.Package)
}
