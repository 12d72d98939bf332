package chart

import (
	"strings"
	"testing"
)

// TestRefused: values that cannot mean what their author thinks are refused by
// name, before anything reaches a cluster.
func TestRefused(t *testing.T) {
	h := newHelm(t)
	tests := map[string]struct{ values, message string }{
		"no cluster name":           {`settings: {clusterName: ""}`, "settings.clusterName is required"},
		"misspelt at the top":       {`replica: 3`, "unknown value replica: did you mean replicas?"},
		"misspelt setting":          {`settings: {batchIdle: 1s}`, "unknown value settings.batchIdle: did you mean settings.batchIdleDuration?"},
		"misspelt policy":           {`policies: {defaults: {cheap: {enabled: true}}}`, "unknown value policies.defaults.cheap: did you mean policies.defaults.cheapest?"},
		"misspelt option":           {`policies: {defaults: {cheapest: {enable: false}}}`, "additional properties 'enable' not allowed"},
		"unknown mode":              {`controller: {mode: Watch}`, "/controller/mode"},
		"unknown policy mode":       {`policies: {defaults: {budget: {mode: Loose}}}`, "/policies/defaults/budget/mode"},
		"unknown log level":         {`logLevel: chatty`, "/logLevel"},
		"duration in days":          {`settings: {batchMaxDuration: 1d}`, "/settings/batchMaxDuration"},
		"plain http endpoint":       {`settings: {clusterEndpoint: "http://api"}`, "/settings/clusterEndpoint"},
		"bad region":                {`settings: {awsRegion: frankfurt}`, "/settings/awsRegion"},
		"bad namespace":             {`policies: {pluginNamespaces: [Team_A]}`, "/policies/pluginNamespaces/0"},
		"misspelt gate":             {`settings: {featureGates: {nodeOverlays: true}}`, "unknown value settings.featureGates.nodeOverlays: did you mean settings.featureGates.nodeOverlay?"},
		"init containers as a map":  {`initContainers: {a: b}`, "/initContainers"},
		"interfaces in words":       {`settings: {reservedENIs: one}`, "/settings/reservedENIs"},
		"unknown gate":              {`settings: {featureGates: {warp: false}}`, "unknown value settings.featureGates.warp"},
		"negative replicas":         {`replicas: -1`, "/replicas"},
		"port as text":              {`controller: {metrics: {port: "8080"}}`, "/controller/metrics/port"},
		"half a digest":             {`controller: {image: {digest: "sha256:abc"}}`, "/controller/image/digest"},
		"budget without caps":       {`policies: {defaults: {budget: {enabled: true}}}`, "budget is enabled without a cap"},
		"cap without bound":         {`policies: {defaults: {budget: {enabled: true, config: {caps: {cluster: {soft: true}}}}}}`, "/caps/cluster"},
		"misspelt bound":            {`policies: {defaults: {budget: {enabled: true, config: {caps: {cluster: {hourly: 1}}}}}}`, "additional properties 'hourly' not allowed"},
		"negative cap":              {`policies: {defaults: {budget: {enabled: true, config: {caps: {cluster: {hourly_usd: -1}}}}}}`, "hourly_usd"},
		"office hours without caps": {`policies: {defaults: {office-hours-budget: {enabled: true}}}`, "office-hours-budget is enabled without a cap"},
		"unknown generation":        {`policies: {defaults: {price-performance: {config: {perVCPU: {m7g: 2}}}}}`, "m7g"},
		"all of it spot and more":   {`policies: {defaults: {spot-diversified: {config: {spotShare: 1.2}}}}`, "spotShare"},
		"half a reservation":        {`policies: {defaults: {commitments: {config: {reserved: {m7i.large: 1.5}}}}}`, "m7i.large"},
		"unknown method":            {`policies: {defaults: {protect-jobs: {config: {methods: [Rusty]}}}}`, "/methods/0"},
		"unknown day":               {`policies: {defaults: {business-hours: {config: {days: [Montag]}}}}`, "/days/0"},
		"negative evictions":        {`policies: {defaults: {churn-guard: {config: {poolEvictions: -1}}}}`, "poolEvictions"},
		"scope of nobody":           {`policies: {pluginNamespaces: [team-a], pluginScopes: {team-b: {}}}`, "policies.pluginScopes: team-b is not among policies.pluginNamespaces"},
		"misspelt scope":            {`policies: {pluginNamespaces: [team-a], pluginScopes: {team-a: {pools: [x]}}}`, "additional properties 'pools' not allowed"},
		"scope with a ceiling":      {`policies: {pluginNamespaces: [team-a], pluginScopes: {team-a: {hooks: [ceiling]}}}`, "/policies/pluginScopes/team-a/hooks/0"},
		"kube-system":               {`policies: {pluginNamespaces: [team-a, kube-system]}`, "policies are not read from kube-system"},
		"CA that is no PEM":         {`webhook: {clientCA: client-ca}`, "/webhook/clientCA"},
		"two sources of discounts":  {`settings: {priceDiscounts: {configMap: x, discounts: [{share: 0.1}]}}`, "say one of the two"},
		"discount of everything":    {`settings: {priceDiscounts: {discounts: [{share: 5}]}}`, "/settings/priceDiscounts/discounts/0"},
		"price of a family":         {`settings: {priceDiscounts: {discounts: [{family: m7i, hourlyUSD: 1}]}}`, "/settings/priceDiscounts/discounts/0"},
		"discount of nothing":       {`settings: {priceDiscounts: {discounts: [{family: m7i}]}}`, "/settings/priceDiscounts/discounts/0"},
		"misspelt discount":         {`settings: {priceDiscounts: {discounts: [{type: m7i.large, share: 0.1}]}}`, "'type' not allowed"},
		"no workers":                {`settings: {workers: 0}`, "/settings/workers"},
		"unknown scope":             {`policies: {defaults: {budget: {enabled: true, config: {caps: {pool/x: {hourly_usd: 1}}}}}}`, "pool/x"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			args := []string{"template", "spokeshave", chartDir, "--values", "testdata/image.yaml", "--values", values(t, tc.values)}
			if name != "no cluster name" {
				args = append(args, "--set", "settings.clusterName=test")
			}
			_, err := h.run(t.Context(), args...)
			if err == nil || !strings.Contains(err.Error(), tc.message) {
				t.Errorf("got %v, want a refusal with %q", err, tc.message)
			}
		})
	}
}
