package stacks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// template is CloudFormation's, as far as it is evaluated.
type template struct {
	Parameters map[string]struct {
		Default       *string
		AllowedValues []string
	}
	Conditions map[string]any
	Resources  map[string]struct {
		Type, Condition string
		Properties      map[string]any
	}
	Outputs map[string]struct{ Value any }

	values map[string]string // parameters and pseudo parameters
}

// cloudFormation returns what the template makes with the given parameters.
func cloudFormation(t *testing.T, parameters map[string]string) stack {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(examples, "cloudformation.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c := template{values: map[string]string{
		"AWS::Partition": "aws", "AWS::Region": "eu-west-1", "AWS::AccountId": account, "AWS::URLSuffix": "amazonaws.com",
	}}
	if err := yaml.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	for name, p := range c.Parameters {
		value, ok := parameters[name]
		switch {
		case ok:
			c.values[name] = value
		case p.Default != nil:
			c.values[name] = *p.Default
		default:
			t.Fatalf("parameter %s has no default and is not given", name)
		}
	}
	for name := range parameters {
		if _, ok := c.Parameters[name]; !ok {
			t.Fatalf("there is no parameter %s", name)
		}
	}
	out := stack{names: map[string][]string{}, outputs: map[string]string{}}
	for id, r := range c.Resources {
		out.names[id] = []string{}
		if r.Condition != "" && !c.holds(t, r.Condition) {
			continue
		}
		name := id
		for _, property := range []string{"RoleName", "ManagedPolicyName", "QueueName"} {
			if v, ok := r.Properties[property]; ok {
				name = c.value(t, v)
			}
		}
		out.names[id] = []string{name}
		if r.Type == "AWS::IAM::ManagedPolicy" {
			out.policy = append(out.policy, statements([]byte(c.value(t, r.Properties["PolicyDocument"])))...)
		}
	}
	for name, o := range c.Outputs {
		out.outputs[name] = c.value(t, o.Value)
	}
	return out
}

// holds reports whether a condition holds. All are equalities.
func (c *template) holds(t *testing.T, name string) bool {
	t.Helper()
	sides, ok := c.Conditions[name].(map[string]any)["Fn::Equals"].([]any)
	if !ok || len(sides) != 2 {
		t.Fatalf("condition %s is no equality", name)
	}
	return c.value(t, sides[0]) == c.value(t, sides[1])
}

// value evaluates an expression.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
func (c *template) value(t *testing.T, v any) string {
	t.Helper()
	if s, ok := v.(string); ok {
		return s
	}
	call, ok := v.(map[string]any)
	if !ok || len(call) != 1 {
		t.Fatalf("%v is no expression", v)
	}
	for function, argument := range call {
		list, _ := argument.([]any)
		switch function {
		case "Ref":
			return c.reference(t, argument.(string))
		case "Fn::GetAtt":
			return c.reference(t, list[0].(string)) + "." + list[1].(string)
		case "Fn::If":
			if c.holds(t, list[0].(string)) {
				return c.value(t, list[1])
			}
			return c.value(t, list[2])
		case "Fn::Sub":
			return c.substitute(t, argument)
		case "Fn::Select":
			parts := list[1].(map[string]any)["Fn::Split"].([]any)
			return strings.Split(c.value(t, parts[1]), parts[0].(string))[int(list[0].(float64))]
		default:
			t.Fatalf("%s is not evaluated here", function)
		}
	}
	return ""
}

// reference returns the value of a parameter, or the ID of a resource that is made.
func (c *template) reference(t *testing.T, name string) string {
	t.Helper()
	if v, ok := c.values[name]; ok {
		return v
	}
	r, ok := c.Resources[name]
	if !ok || r.Condition != "" && !c.holds(t, r.Condition) {
		t.Fatalf("%s is referred to and not made", name)
	}
	return name
}

// substitute evaluates Fn::Sub: a text, or a text and the values of its own names.
func (c *template) substitute(t *testing.T, argument any) string {
	t.Helper()
	text, own := "", map[string]any{}
	switch a := argument.(type) {
	case string:
		text = a
	case []any:
		text, own = a[0].(string), a[1].(map[string]any)
	}
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, after, ended := strings.Cut(rest, "}")
		if !ended {
			t.Fatalf("a name does not end in %q", rest)
		}
		if v, ok := own[name]; ok {
			out.WriteString(c.value(t, v))
		} else {
			out.WriteString(c.reference(t, name))
		}
		text = after
	}
}
