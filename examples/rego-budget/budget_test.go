// Package budget_test checks the example as it would be applied.
package budget_test

import (
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/policy/rego"
)

func TestBudget(t *testing.T) {
	text, err := os.ReadFile("configmap.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cm := &corev1.ConfigMap{}
	if err := yaml.UnmarshalStrict(text, cm); err != nil {
		t.Fatal(err)
	}
	l := load.New(load.Config{
		Namespace: cm.Namespace, Engines: map[string]policy.Engine{"rego": &rego.Engine{}}, Now: time.Now,
	})
	if _, err := l.Apply(t.Context(), cm); err != nil {
		t.Fatal(err)
	}
	got, err := l.Policies()[0].Ceiling(t.Context(), &policy.CeilingInput{
		Call:   policy.Call{Time: time.Unix(1_700_000_000, 0)},
		Scopes: []policy.ScopeSpend{{Scope: "cluster", RunningUSD: 1.5}},
	})
	if err != nil {
		t.Fatal(err)
	}
	c, ok := got.Caps["cluster"]
	if len(got.Caps) != 1 || !ok || c.HourlyUSD == nil || *c.HourlyUSD != 2 || c.MonthlyUSD != nil || c.Soft {
		t.Errorf("caps %+v", got.Caps)
	}
	if len(got.Deny) != 0 {
		t.Errorf("denied %v", got.Deny)
	}
}
