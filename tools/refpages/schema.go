package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// schema is the part of a JSON schema that pages tell.
//
// Size: one field for each keyword of JSON schemas that the definitions use.
type schema struct {
	Type        kindOf            `json:"type"`
	Format      string            `json:"format"`
	Description string            `json:"description"`
	Properties  map[string]schema `json:"properties"`
	Items       *schema           `json:"items"`
	// Additional is a schema, or false.
	Additional any      `json:"additionalProperties"`
	Required   []string `json:"required"`
	Default    any      `json:"default"`
	Enum       []any    `json:"enum"`
	Pattern    string   `json:"pattern"`
	AnyOf      []schema `json:"anyOf"`

	Minimum          *float64 `json:"minimum"`
	Maximum          *float64 `json:"maximum"`
	ExclusiveMinimum *float64 `json:"exclusiveMinimum"`
	ExclusiveMaximum *float64 `json:"exclusiveMaximum"`
	MinLength        *int     `json:"minLength"`
	MaxLength        *int     `json:"maxLength"`
	MinItems         *int     `json:"minItems"`
	MaxItems         *int     `json:"maxItems"`
	MaxProperties    *int     `json:"maxProperties"`

	IntOrString bool `json:"x-kubernetes-int-or-string"`
	Preserve    bool `json:"x-kubernetes-preserve-unknown-fields"`
	Rules       []struct {
		Message string `json:"message"`
		Rule    string `json:"rule"`
	} `json:"x-kubernetes-validations"`
}

// kindOf is the type of a value; several are separated by " or ".
type kindOf string

// UnmarshalJSON reads a type, or a list of types.
func (k *kindOf) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*k = kindOf(one)
		return nil
	}
	var several []string
	if err := json.Unmarshal(raw, &several); err != nil {
		return fmt.Errorf("read type: %w", err)
	}
	*k = kindOf(strings.Join(several, " or "))
	return nil
}

// kind is the type of a value in words.
func (s *schema) kind() string {
	switch {
	case s.IntOrString:
		return "quantity"
	case s.Type == "array" && s.Items != nil:
		return "list of " + plural(s.Items.kind())
	case s.Type == "object" && s.values() != nil:
		return "map of " + plural(s.values().kind())
	case s.Type == "string" && s.Format == "date-time":
		return "time"
	case s.Type == "" && len(s.Enum) > 0:
		return "string"
	}
	return string(s.Type)
}

func plural(kind string) string {
	switch {
	case kind == "":
		return "any values"
	case strings.HasSuffix(kind, "quantity"):
		return "quantities"
	case strings.HasPrefix(kind, "list of"), strings.HasPrefix(kind, "map of"):
		return kind
	}
	return kind + "s"
}

// values is the schema of a map's values, nil for an object with fields.
func (s *schema) values() *schema { return asSchema(s.Additional) }

// limits says in sentences what is accepted.
func (s *schema) limits() []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if len(s.Enum) > 0 {
		say("One of %s.", list(s.Enum))
	}
	out = append(out, s.numbers()...)
	switch low, high := s.MinLength, s.MaxLength; {
	case high != nil:
		say("At most %d characters.", *high)
	case low != nil && s.Pattern == "":
		say("Not empty.")
	}
	switch low, high := s.MinItems, s.MaxItems; {
	case low != nil && high != nil:
		say("%d to %d of them.", *low, *high)
	case high != nil:
		say("At most %d of them.", *high)
	}
	if s.MaxProperties != nil {
		say("At most %d of them.", *s.MaxProperties)
	}
	if s.Pattern != "" && !s.IntOrString {
		say("Matches %s.", code(s.Pattern))
	}
	for _, inner := range []*schema{s.Items, s.values()} {
		if inner != nil && len(inner.Properties) == 0 && !inner.IntOrString {
			for _, l := range inner.limits() {
				say("Each: %s", strings.ToLower(l[:1])+l[1:])
			}
		}
	}
	for _, r := range s.Rules {
		say("Rule: %s", sentence(prose(r.Message)))
	}
	return out
}

// numbers says the bounds of a number.
func (s *schema) numbers() []string {
	switch low, high := s.Minimum, s.Maximum; {
	case low != nil && high != nil:
		return []string{fmt.Sprintf("From %v to %v.", *low, *high)}
	case low != nil && s.ExclusiveMaximum != nil:
		return []string{fmt.Sprintf("At least %v, and less than %v.", *low, *s.ExclusiveMaximum)}
	case low != nil:
		return []string{fmt.Sprintf("At least %v.", *low)}
	case s.ExclusiveMinimum != nil:
		return []string{fmt.Sprintf("More than %v.", *s.ExclusiveMinimum)}
	case high != nil:
		return []string{fmt.Sprintf("At most %v.", *high)}
	}
	return nil
}

// needs reports whether a field must be there.
func (s *schema) needs(field string) bool { return slices.Contains(s.Required, field) }
