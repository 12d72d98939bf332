package rego

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/policy/wire"
	"spokeshave.dev/sdk/abi"
)

func badReply(format string, args ...any) error {
	return &policy.Fault{Kind: policy.FaultBadReply, Message: fmt.Sprintf(format, args...)}
}

// entry is a reason with its number.
type entry struct {
	reason string
	value  float64
}

// entries reads an object of numbers by reason, sorted by reason. A number below
// least is an error.
func entries(rule string, v ast.Value, least float64) ([]entry, error) {
	object, ok := v.(ast.Object)
	if !ok {
		return nil, badReply("%s is %s, not an object", rule, ast.ValueName(v))
	}
	out := make([]entry, 0, object.Len())
	err := object.Iter(func(key, value *ast.Term) error {
		reason, ok := key.Value.(ast.String)
		if !ok {
			return badReply("a reason of %s is %s, not a string", rule, ast.ValueName(key.Value))
		}
		n, err := amount(rule, string(reason), value.Value, least)
		if err != nil {
			return err
		}
		out = append(out, entry{string(reason), n})
		return nil
	})
	slices.SortFunc(out, func(a, b entry) int { return strings.Compare(a.reason, b.reason) })
	return out, err
}

func amount(rule, key string, v ast.Value, least float64) (float64, error) {
	n, ok := v.(ast.Number)
	if !ok {
		return 0, badReply("%s[%q] is %s, not a number", rule, clean(key), ast.ValueName(v))
	}
	f, ok := n.Float64()
	if !ok || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, badReply("%s[%q] is out of range", rule, clean(key))
	}
	if f < least {
		return 0, badReply("%s[%q] is %v: it must be at least %v", rule, clean(key), f, least)
	}
	return f, nil
}

// reasons reads a set of strings and returns them sorted.
func reasons(rule string, v ast.Value) ([]string, error) {
	set, ok := v.(ast.Set)
	if !ok {
		return nil, badReply("%s is %s, not a set", rule, ast.ValueName(v))
	}
	if set.Len() == 0 {
		return nil, nil
	}
	out := make([]string, 0, set.Len())
	err := set.Iter(func(t *ast.Term) error {
		s, ok := t.Value.(ast.String)
		if !ok {
			return badReply("a reason of %s is %s, not a string", rule, ast.ValueName(t.Value))
		}
		out = append(out, clean(string(s)))
		return nil
	})
	slices.Sort(out)
	return out, err
}

// joinReasons joins reasons into one text of at most abi.MaxMessage bytes.
func joinReasons(all []string) string {
	return clean(strings.Join(all[:min(len(all), abi.MaxMessage)], "; "))
}

func clean(s string) string { return wire.Clean([]byte(s)) }

// caps reads an object of caps by scope.
func caps(v ast.Value) (map[string]policy.Cap, error) {
	object, ok := v.(ast.Object)
	if !ok {
		return nil, badReply("cap is %s, not an object", ast.ValueName(v))
	}
	out := make(map[string]policy.Cap, object.Len())
	err := object.Iter(func(key, value *ast.Term) error {
		scope, ok := key.Value.(ast.String)
		if !ok {
			return badReply("a scope of cap is %s, not a string", ast.ValueName(key.Value))
		}
		if !spend.Known(string(scope)) {
			return badReply("cap[%q] is no scope: "+spend.ScopeForms, clean(string(scope)))
		}
		limit, err := oneCap(string(scope), value.Value)
		out[string(scope)] = limit
		return err
	})
	return out, err
}

func oneCap(scope string, v ast.Value) (policy.Cap, error) {
	var out policy.Cap
	object, ok := v.(ast.Object)
	if !ok {
		return out, badReply("cap[%q] is %s, not an object", clean(scope), ast.ValueName(v))
	}
	err := object.Iter(func(key, value *ast.Term) error {
		name, _ := key.Value.(ast.String)
		switch name { //nolint:exhaustive // any string may stand here
		case "hourly_usd", "monthly_usd", "soft_hourly_usd", "soft_monthly_usd":
			n, err := amount("cap", scope+"."+string(name), value.Value, 0)
			*map[ast.String]**float64{
				"hourly_usd": &out.HourlyUSD, "monthly_usd": &out.MonthlyUSD,
				"soft_hourly_usd": &out.SoftHourlyUSD, "soft_monthly_usd": &out.SoftMonthlyUSD,
			}[name] = &n
			return err
		case "soft":
			soft, ok := value.Value.(ast.Boolean)
			if !ok {
				return badReply("cap[%q].soft is %s, not true or false", clean(scope), ast.ValueName(value.Value))
			}
			out.Soft = bool(soft)
			return nil
		default:
			return badReply("cap[%q] has %s: only hourly_usd, monthly_usd, soft, soft_hourly_usd and soft_monthly_usd are known", clean(scope), clean(key.String()))
		}
	})
	return out, err
}
