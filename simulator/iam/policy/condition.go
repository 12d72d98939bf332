package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// condition is one key under one operator of a statement.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
type condition struct {
	key    string
	values []string
	set    setOperator
	// ifExists holds when the key is absent.
	ifExists bool
	// negated operators hold when no value matches.
	negated bool
	// null tests presence alone: the key is to be absent when the value is true.
	null bool
	same func(want, got string, keys Keys) bool
}

// setOperator says how several values of a request count.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-single-vs-multi-valued-context-keys.html
type setOperator int

const (
	single setOperator = iota
	forAllValues
	forAnyValue
)

func newCondition(operator, key string, values []scalar) (condition, error) {
	out := condition{key: key}
	for _, v := range values {
		out.values = append(out.values, string(v))
	}
	name := operator
	if rest, ok := strings.CutPrefix(name, "ForAllValues:"); ok {
		name, out.set = rest, forAllValues
	} else if rest, ok := strings.CutPrefix(name, "ForAnyValue:"); ok {
		name, out.set = rest, forAnyValue
	}
	if name == "Null" {
		out.null = true
		for _, v := range out.values {
			if _, err := strconv.ParseBool(v); err != nil {
				return out, fmt.Errorf("condition Null of %s: %q is not true or false", key, v)
			}
		}
		return out, nil
	}
	name, out.ifExists = strings.CutSuffix(name, "IfExists")
	out.negated = strings.Contains(name, "Not")
	name = strings.Replace(name, "Not", "", 1)
	if out.same = comparison(name); out.same == nil {
		return out, fmt.Errorf("condition operator %s is not evaluated here", operator)
	}
	return out, nil
}

// comparison finds the test of an operator without Not; nil when there is none.
func comparison(operator string) func(want, got string, keys Keys) bool {
	number := func(test func(got, want float64) bool) func(want, got string, keys Keys) bool {
		return func(want, got string, _ Keys) bool {
			w, err := strconv.ParseFloat(want, 64)
			g, err2 := strconv.ParseFloat(got, 64)
			return err == nil && err2 == nil && test(g, w)
		}
	}
	switch operator {
	case "StringEquals":
		return func(want, got string, keys Keys) bool { return like(want, got, keys, false) }
	case "StringEqualsIgnoreCase":
		return func(want, got string, keys Keys) bool {
			return like(strings.ToLower(want), strings.ToLower(got), keys, false)
		}
	case "StringLike":
		return func(want, got string, keys Keys) bool { return like(want, got, keys, true) }
	case "ArnEquals", "ArnLike":
		return func(want, got string, keys Keys) bool {
			p, ok := expand(want, true, keys)
			return ok && matchARN(p, got)
		}
	case "Bool":
		return func(want, got string, _ Keys) bool { return strings.EqualFold(want, got) }
	case "NumericEquals":
		return number(func(got, want float64) bool { return got == want })
	case "NumericLessThan":
		return number(func(got, want float64) bool { return got < want })
	case "NumericLessThanEquals":
		return number(func(got, want float64) bool { return got <= want })
	case "NumericGreaterThan":
		return number(func(got, want float64) bool { return got > want })
	case "NumericGreaterThanEquals":
		return number(func(got, want float64) bool { return got >= want })
	default:
		return nil
	}
}

func like(want, got string, keys Keys, wild bool) bool {
	p, ok := expand(want, wild, keys)
	return ok && p.matches(got)
}

// holds evaluates the condition. A key that is absent matches nothing, so that
// negated operators hold; under ForAllValues the other operators hold too.
func (c *condition) holds(keys Keys) bool {
	got, present := keys.get(c.key)
	if c.null {
		return c.wants(!present || len(got) == 0)
	}
	if !present && c.ifExists {
		return true
	}
	switch c.set {
	case forAllValues:
		for _, g := range got {
			if c.matches(g, keys) == c.negated {
				return false
			}
		}
		return true
	case forAnyValue:
		for _, g := range got {
			if c.matches(g, keys) != c.negated {
				return true
			}
		}
		return false
	case single:
	}
	for _, g := range got {
		if c.matches(g, keys) {
			return !c.negated
		}
	}
	return c.negated
}

// wants says whether one of the values is a truth value.
func (c *condition) wants(truth bool) bool {
	return slices.ContainsFunc(c.values, func(v string) bool {
		want, err := strconv.ParseBool(v)
		return err == nil && want == truth
	})
}

// matches says whether one of the condition's values is that of the request.
func (c *condition) matches(got string, keys Keys) bool {
	for _, want := range c.values {
		if c.same(want, got, keys) {
			return true
		}
	}
	return false
}
