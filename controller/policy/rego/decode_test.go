package rego

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/core/spend"
)

// FuzzDecode feeds every reader of results with any value: it gives a clean
// result or a bad reply.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"a": 1}`, `{"a": -1e999}`, `{"cluster": {"hourly_usd": 1, "soft": true}}`, `{"label/a=b": {"monthly_usd": "x"}}`,
		`[1]`, `"x"`, `null`, `{"cluster": {"hourly_usd": null}}`, `{"nodepool/": {}}`, `{"": 3}`, `["\u0000"]`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := ast.ValueFromReader(strings.NewReader(s))
		if err != nil {
			return
		}
		set := ast.NewSet()
		if array, ok := v.(*ast.Array); ok {
			array.Foreach(set.Add)
		}
		check := func(err error) {
			var fault *policy.Fault
			if err != nil && (!errors.As(err, &fault) || fault.Kind != policy.FaultBadReply) {
				t.Errorf("%s: %v", s, err)
			}
		}
		list, err := entries(ruleMultiplier, v, 0)
		check(err)
		for _, e := range list {
			if err == nil && (e.value < 0 || math.IsNaN(e.value) || math.IsInf(e.value, 0)) {
				t.Errorf("%s: %v", s, e)
			}
		}
		for _, each := range []ast.Value{v, set} {
			all, err := reasons(ruleDeny, each)
			check(err)
			if text := joinReasons(all); len(text) > 512 || !utf8.ValidString(text) {
				t.Errorf("%s: %q", s, text)
			}
		}
		limits, err := caps(v)
		check(err)
		for scope, c := range limits {
			for _, bound := range []*float64{c.HourlyUSD, c.MonthlyUSD} {
				if err == nil && (!spend.Known(scope) || bound != nil && (*bound < 0 || math.IsInf(*bound, 0))) {
					t.Errorf("%s: %v", s, limits)
				}
			}
		}
	})
}
