package policy

import (
	"slices"
	"strings"
)

// Request is what is to be allowed: one action on one resource.
type Request struct {
	// Action is service and operation, such as ec2:CreateFleet.
	Action string
	// Resource is an ARN, or * for actions that take no resource.
	Resource string
	Keys     Keys
}

// Keys are the condition keys of a request with their values. A key without
// values is present and empty. Names differ by more than case.
type Keys map[string][]string

// get finds a key, whose name is not case-sensitive.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition.html
func (k Keys) get(name string) (values []string, present bool) {
	if values, present = k[name]; present {
		return values, true
	}
	for other, values := range k {
		if strings.EqualFold(other, name) {
			return values, true
		}
	}
	return nil, false
}

// Decision is how an evaluation ended.
type Decision struct {
	Allowed bool
	// Explicit says that a statement denies; false in a denial says that none
	// allows.
	Explicit bool
	// Statement is the ID of the statement that decided; empty when none did.
	Statement string
}

// Decide evaluates all policies of an identity. The first statement that denies
// decides, else the first that allows.
func Decide(policies []*Document, r Request) Decision {
	var out Decision
	for _, p := range policies {
		for i := range p.Statements {
			s := &p.Statements[i]
			switch {
			case out.Allowed && !s.Deny, !s.applies(r):
			case s.Deny:
				return Decision{Explicit: true, Statement: s.ID}
			default:
				out = Decision{Allowed: true, Statement: s.ID}
			}
		}
	}
	return out
}

// applies says whether a statement is about a request.
func (s *Statement) applies(r Request) bool {
	if !about(s.Actions, s.NotActions, func(p string) bool { return matchAction(p, r.Action) }) {
		return false
	}
	if !about(s.Resources, s.NotResources, func(p string) bool { return matchResource(p, r.Resource, r.Keys) }) {
		return false
	}
	for i := range s.conditions {
		if !s.conditions[i].holds(r.Keys) {
			return false
		}
	}
	return true
}

// about says whether one of some patterns matches, or none of those excluded.
func about(some, excluded []string, matches func(string) bool) bool {
	if slices.ContainsFunc(excluded, matches) {
		return false
	}
	return len(some) == 0 || slices.ContainsFunc(some, matches)
}

// matchAction compares without regard to case.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_action.html
func matchAction(pattern, action string) bool {
	return literal(strings.ToLower(pattern), true).matches(strings.ToLower(action))
}

// matchResource compares ARNs; * alone is any resource.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html
func matchResource(text, resource string, keys Keys) bool {
	if text == "*" {
		return true
	}
	p, ok := expand(text, true, keys)
	return ok && matchARN(p, resource)
}

// matchARN compares the six parts of an ARN one by one, so that a wildcard does
// not reach beyond its part.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html#Conditions_ARN
func matchARN(p pattern, arn string) bool {
	patterns, parts := p.split(6), strings.SplitN(arn, ":", 6)
	if len(patterns) != len(parts) {
		return false
	}
	for i := range parts {
		if !patterns[i].matches(parts[i]) {
			return false
		}
	}
	return true
}
