package policy

import (
	"encoding/json"
	"fmt"
)

// Document is a policy as it is written in JSON.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html
type Document struct {
	Version    string
	Statements []Statement
}

// Statement allows or denies. One of Actions and NotActions is set, and one of
// Resources and NotResources.
type Statement struct {
	ID           string
	Deny         bool
	Actions      []string
	NotActions   []string
	Resources    []string
	NotResources []string
	// conditions must all hold.
	conditions []condition
}

// Parse reads a policy, and says what in it is wrong or is not evaluated here.
func Parse(text []byte) (*Document, error) {
	var in struct {
		Version   string
		ID        string `json:"Id"`
		Statement oneOrMore[statement]
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	out := &Document{Version: in.Version}
	if in.Version != "" && in.Version != "2012-10-17" && in.Version != "2008-10-17" {
		return nil, fmt.Errorf("read policy: version %q is neither 2012-10-17 nor 2008-10-17", in.Version)
	}
	if len(in.Statement) == 0 {
		return nil, fmt.Errorf("read policy: it has no statement")
	}
	for i := range in.Statement {
		s, err := in.Statement[i].read()
		if err != nil {
			return nil, fmt.Errorf("read policy: statement %d (%s): %w", i+1, in.Statement[i].Sid, err)
		}
		out.Statements = append(out.Statements, s)
	}
	return out, nil
}

// statement is a statement on the wire.
type statement struct {
	Sid, Effect                              string
	Action, NotAction, Resource, NotResource oneOrMore[string]
	Condition                                map[string]map[string]oneOrMore[scalar]
}

func (in *statement) read() (Statement, error) {
	out := Statement{
		ID: in.Sid, Deny: in.Effect == "Deny",
		Actions: in.Action, NotActions: in.NotAction, Resources: in.Resource, NotResources: in.NotResource,
	}
	switch {
	case in.Effect != "Allow" && in.Effect != "Deny":
		return out, fmt.Errorf("effect %q is neither Allow nor Deny", in.Effect)
	case (len(in.Action) == 0) == (len(in.NotAction) == 0):
		return out, fmt.Errorf("want one of Action and NotAction")
	case (len(in.Resource) == 0) == (len(in.NotResource) == 0):
		return out, fmt.Errorf("want one of Resource and NotResource")
	}
	for operator, keys := range in.Condition {
		for key, values := range keys {
			c, err := newCondition(operator, key, values)
			if err != nil {
				return out, err
			}
			out.conditions = append(out.conditions, c)
		}
	}
	return out, nil
}

// oneOrMore is a list, which may be written as its only member.
type oneOrMore[T any] []T

// UnmarshalJSON implements json.Unmarshaler.
func (o *oneOrMore[T]) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		var list []T
		err := json.Unmarshal(raw, &list)
		*o = list
		return err
	}
	var one T
	err := json.Unmarshal(raw, &one)
	*o = oneOrMore[T]{one}
	return err
}

// scalar is a string, which may be written as a boolean or a number.
type scalar string

// UnmarshalJSON implements json.Unmarshaler.
func (s *scalar) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		return json.Unmarshal(raw, (*string)(s))
	}
	*s = scalar(raw)
	return nil
}
