package stacks

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// module is Terraform's configuration while it is evaluated.
type module struct {
	body   *hclsyntax.Body
	scope  *hcl.EvalContext
	locals map[string]cty.Value
	made   map[string]map[string]cty.Value // type, then name, to the list of instances
}

// terraform returns what the module makes with the given variables.
func terraform(t *testing.T, vars map[string]cty.Value) stack {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(examples, "main.tf"))
	if err != nil {
		t.Fatal(err)
	}
	file, problems := hclsyntax.ParseConfig(raw, "main.tf", hcl.InitialPos)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	m := &module{
		body:   file.Body.(*hclsyntax.Body),
		scope:  &hcl.EvalContext{Variables: given(), Functions: functions()},
		locals: map[string]cty.Value{}, made: map[string]map[string]cty.Value{},
	}
	m.scope.Variables["var"] = m.variables(t, vars)
	out := stack{names: map[string][]string{}, outputs: map[string]string{}}
	// Each pass evaluates what the passes before made possible.
	var missing hcl.Diagnostics
	for range 8 {
		if missing = m.pass(&out); !missing.HasErrors() {
			break
		}
	}
	if missing.HasErrors() {
		t.Fatal(missing)
	}
	return out
}

// given are the values that data sources and Terraform itself have.
func given() map[string]cty.Value {
	text := cty.StringVal
	return map[string]cty.Value{
		"path": cty.ObjectVal(map[string]cty.Value{"module": text(examples)}),
		"data": cty.ObjectVal(map[string]cty.Value{
			"aws_partition":       cty.ObjectVal(map[string]cty.Value{"this": cty.ObjectVal(map[string]cty.Value{"partition": text("aws"), "dns_suffix": text("amazonaws.com")})}),
			"aws_region":          cty.ObjectVal(map[string]cty.Value{"this": cty.ObjectVal(map[string]cty.Value{"name": text("eu-west-1")})}),
			"aws_caller_identity": cty.ObjectVal(map[string]cty.Value{"this": cty.ObjectVal(map[string]cty.Value{"account_id": text(account)})}),
		}),
	}
}

// variables returns the module's variables: those given, and the defaults of the others.
func (m *module) variables(t *testing.T, vars map[string]cty.Value) cty.Value {
	t.Helper()
	out := map[string]cty.Value{}
	for _, b := range m.body.Blocks {
		if b.Type != "variable" {
			continue
		}
		name := b.Labels[0]
		value, ok := vars[name]
		if !ok {
			byDefault, has := b.Body.Attributes["default"]
			if !has {
				t.Fatalf("variable %s has no default and is not given", name)
			}
			value, _ = byDefault.Expr.Value(nil)
		}
		out[name] = value
	}
	for name := range vars {
		if _, ok := out[name]; !ok {
			t.Fatalf("there is no variable %s", name)
		}
	}
	return cty.ObjectVal(out)
}

// pass evaluates every block once and returns what could not be evaluated.
func (m *module) pass(out *stack) hcl.Diagnostics {
	var missing hcl.Diagnostics
	for _, b := range m.body.Blocks {
		switch b.Type {
		case "locals":
			for name, a := range b.Body.Attributes {
				value, problems := a.Expr.Value(m.scope)
				if problems.HasErrors() {
					missing = append(missing, problems...)
					continue
				}
				m.locals[name] = value
			}
		case "resource":
			missing = append(missing, m.resource(b, out)...)
		case "output":
			value, problems := b.Body.Attributes["value"].Expr.Value(m.scope)
			missing = append(missing, problems...)
			if !problems.HasErrors() {
				out.outputs[b.Labels[0]] = value.AsString()
			}
		}
		m.publish()
	}
	return missing
}

// resource evaluates one resource: how many there are, their names, and of a policy
// its statements.
func (m *module) resource(b *hclsyntax.Block, out *stack) hcl.Diagnostics {
	kind, label := b.Labels[0], b.Labels[1]
	keys := []cty.Value{cty.StringVal("")}
	for _, repeat := range []string{"count", "for_each"} {
		a, ok := b.Body.Attributes[repeat]
		if !ok {
			continue
		}
		value, problems := a.Expr.Value(m.scope)
		if problems.HasErrors() {
			return problems
		}
		keys = instances(value)
	}
	list := make([]cty.Value, 0, len(keys))
	names := []string{}
	for _, key := range keys {
		each := m.scope.NewChild()
		each.Variables = map[string]cty.Value{"each": cty.ObjectVal(map[string]cty.Value{"key": key, "value": cty.DynamicVal})}
		name := kind + "." + label
		if a, ok := b.Body.Attributes["name"]; ok {
			value, problems := a.Expr.Value(each)
			if problems.HasErrors() {
				return problems
			}
			name = value.AsString()
		}
		if a, ok := b.Body.Attributes["policy"]; ok && kind == "aws_iam_policy" {
			value, problems := a.Expr.Value(each)
			if problems.HasErrors() {
				return problems
			}
			out.policy = statements([]byte(value.AsString()))
		}
		list = append(list, cty.ObjectVal(map[string]cty.Value{
			"name": cty.StringVal(name), "arn": cty.StringVal("arn:made:" + name), "url": cty.StringVal("https://made/" + name),
		}))
		names = append(names, name)
	}
	out.names[kind+"."+label] = names
	if m.made[kind] == nil {
		m.made[kind] = map[string]cty.Value{}
	}
	switch _, many := b.Body.Attributes["count"]; {
	case many:
		m.made[kind][label] = cty.TupleVal(list)
	case len(list) == 1 && b.Body.Attributes["for_each"] == nil:
		m.made[kind][label] = list[0]
	default:
		m.made[kind][label] = cty.DynamicVal
	}
	return nil
}

// publish makes what was evaluated known to expressions.
func (m *module) publish() {
	m.scope.Variables["local"] = cty.ObjectVal(m.locals)
	for kind, byName := range m.made {
		m.scope.Variables[kind] = cty.ObjectVal(byName)
	}
}

// instances returns the keys of a count or of a for_each.
func instances(v cty.Value) []cty.Value {
	out := []cty.Value{}
	if v.Type() == cty.Number {
		n, _ := v.AsBigFloat().Int64()
		for i := range n {
			out = append(out, cty.StringVal(fmt.Sprint(i)))
		}
		return out
	}
	for it := v.ElementIterator(); it.Next(); {
		key, _ := it.Element()
		out = append(out, key)
	}
	return out
}

// functions are those of Terraform's that the module calls.
func functions() map[string]function.Function {
	return map[string]function.Function{
		"contains":     stdlib.ContainsFunc,
		"jsondecode":   stdlib.JSONDecodeFunc,
		"jsonencode":   stdlib.JSONEncodeFunc,
		"one":          function.New(&function.Spec{Params: []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}}, Type: function.StaticReturnType(cty.DynamicPseudoType), Impl: one}),
		"reverse":      stdlib.ReverseListFunc,
		"split":        stdlib.SplitFunc,
		"templatefile": function.New(&function.Spec{Params: []function.Parameter{{Name: "path", Type: cty.String}, {Name: "vars", Type: cty.DynamicPseudoType}}, Type: function.StaticReturnType(cty.String), Impl: templateFile}),
		"toset":        stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
	}
}

// one returns the only element of a list, null of an empty one.
// https://developer.hashicorp.com/terraform/language/functions/one
func one(args []cty.Value, _ cty.Type) (cty.Value, error) {
	switch n := args[0].LengthInt(); n {
	case 0:
		return cty.NullVal(cty.String), nil
	case 1:
		return args[0].Index(cty.NumberIntVal(0)), nil
	default:
		return cty.NilVal, fmt.Errorf("one: the list has %d elements", n)
	}
}

// templateFile evaluates the template in a file.
// https://developer.hashicorp.com/terraform/language/functions/templatefile
func templateFile(args []cty.Value, _ cty.Type) (cty.Value, error) {
	raw, err := os.ReadFile(args[0].AsString())
	if err != nil {
		return cty.NilVal, err
	}
	expression, problems := hclsyntax.ParseTemplate(raw, args[0].AsString(), hcl.InitialPos)
	if problems.HasErrors() {
		return cty.NilVal, problems
	}
	value, problems := expression.Value(&hcl.EvalContext{Variables: args[1].AsValueMap()})
	if problems.HasErrors() {
		return cty.NilVal, problems
	}
	return value, nil
}
