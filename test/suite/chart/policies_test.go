package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/controller/rehearse/author"
)

// configs are what the shipped policies need to be told.
var configs = map[string]string{
	"budget":              `{caps: {cluster: {hourly_usd: 25}}, teams: {ml: {monthly_usd: 900, soft: true}}}`,
	"business-hours":      `{timeZone: Europe/Berlin, days: [Monday], from: 7.5}`,
	"churn-guard":         `{poolEvictions: 20, backoff: 600}`,
	"commitments":         `{reserved: {m7i.large: 10, m7i.large/us-east-1a: 2}, savingsPlans: {m7g: 10, "*": 2.5}}`,
	"gpu-guardrail":       `{nodePools: [gpu], labels: {team: ml}, namespaces: [train], caps: {nodepool/gpu: {hourly_usd: 40}}}`,
	"keep-protected":      `{protected: {tier: gold}}`,
	"least-waste":         `{weight: 0.5}`,
	"max-price":           `{hourlyUSD: 5}`,
	"max-price-wasm":      `{hourlyUSD: 5}`,
	"minimum-savings":     `{hourlyUSD: 0.05, percent: 15, methods: [Empty]}`,
	"node-minimum-age":    `{seconds: 3600}`,
	"office-hours-budget": `{office: {cluster: {hourly_usd: 50}}, otherwise: {cluster: {hourly_usd: 5}}}`,
	"prefer-large":        `{licenceUSD: 0.0205}`,
	"price-performance":   `{perVCPU: {7g: 1.5, "5": 1}}`,
	"protect-jobs":        `{methods: [Underutilized]}`,
	"spot-diversified":    `{onDemandFloor: 3, spotShare: 0.5}`,
}

// TestEverySwitch: each shipped policy can be switched on with a configuration
// of its own, and what the chart then installs is what is in policies/ and
// loads in the controller.
func TestEverySwitch(t *testing.T) {
	h := newHelm(t)
	found, err := filepath.Glob("../../../policies/*/policy.yaml")
	if err != nil || len(found) == 0 {
		t.Fatalf("no policies: %v", err)
	}
	byDefault := h.render(t, ``)
	all := "policies:\n  defaults:\n"
	for _, file := range found {
		name := filepath.Base(filepath.Dir(file))
		if on := byDefault["ConfigMap/"+name] != nil; on != (name == "cheapest" || name == "keep-protected") {
			t.Errorf("%s: switched on by default: %v", name, on)
		}
		config := configs[name]
		if config == "" {
			config = "{}"
		}
		all += fmt.Sprintf("    %s: {enabled: true, mode: Shadow, config: %s}\n", name, config)
	}
	objs := h.render(t, all)
	for _, file := range found {
		dir := filepath.Dir(file)
		name := filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			cm := get[corev1.ConfigMap](t, objs, "ConfigMap/"+name)
			same(t, dir, cm)
			text, err := yaml.Marshal(cm)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "configmap.yaml")
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			sources, err := author.Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if f := sources[0].Find(t.Context(), cm.Namespace, time.Unix(0, 0)); f.Reason != "" {
				t.Error(f.Reason)
			}
			if !strings.Contains(cm.Data["policy.yaml"], "mode: Shadow") {
				t.Error("the mode does not arrive")
			}
		})
	}
}

// same compares the code in the ConfigMap with the policy's folder.
func same(t *testing.T, dir string, cm *corev1.ConfigMap) {
	t.Helper()
	files := 0
	for _, pattern := range []string{"*.rego", "module.wasm"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			files++
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			base := filepath.Base(file)
			if got := cm.Data[base] + string(cm.BinaryData[base]); got != string(want) {
				t.Errorf("%s is not what is in policies/; run make generate", base)
			}
		}
	}
	if n := len(cm.Data) + len(cm.BinaryData) - 1; files == 0 || n != files {
		t.Errorf("the ConfigMap has %d files of code, want %d", n, files)
	}
}
