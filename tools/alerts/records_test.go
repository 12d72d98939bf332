package alerts

// recordedSeries are an hour of two NodePools, and records what the recording rules make of
// it, by the labels of each figure.
const recordedSeries = `
	spokeshave_spend_rate_usd{nodepool="general",pod="a"} 3x60
	spokeshave_spend_rate_usd{nodepool="gpu",pod="a"} 1x60
	spokeshave_spend_workload_rate_usd{namespace="shop",workload="web",pod="a"} 2x60
	spokeshave_spend_workload_rate_usd{namespace="shop",workload="db",pod="a"} 1x60
	spokeshave_workload_pods{namespace="shop",workload="web",pod="a"} 8x60
	spokeshave_workload_pods{namespace="shop",workload="db",pod="a"} 2x60
	spokeshave_spend_overhead_rate_usd{kind="idle",pod="a"} 1x60
	spokeshave_cap_burn_usd{scope="cluster",policy="budget",kind="hard",period="hour",pod="a"} 4x60
	spokeshave_cap_usd{scope="cluster",policy="budget",kind="hard",period="hour",pod="a"} 10x60
	spokeshave_nodes{nodepool="general",capacity_type="spot",pod="a"} 3x60
	spokeshave_nodes{nodepool="general",capacity_type="on-demand",pod="a"} 1x60
	spokeshave_spot_fallback_nodes{nodepool="general",pod="a"} 1x60
	karpenter_nodeclaims_disrupted_total{nodepool="general",reason="spot_interrupted",pod="a"} 0+0.1x60
	spokeshave_node_hours_total{nodepool="general",capacity_type="spot",pod="a"} 0+0.05x60
	spokeshave_pod_pending_seconds_bucket{le="10",pod="a"} 0+5x60
	spokeshave_pod_pending_seconds_bucket{le="60",pod="a"} 0+10x60
	spokeshave_pod_pending_seconds_bucket{le="+Inf",pod="a"} 0+10x60
	spokeshave_disruptions_total{reason="Empty",action="delete",pod="a"} 0+1x60
`

//nolint:gochecknoglobals // a table
var records = map[string]map[string]string{
	"spokeshave:burn_rate_usd":                   {`{}`: "4"},
	"spokeshave:workload_pod_hour_usd":           {`{namespace="shop", workload="web"}`: "0.25", `{namespace="shop", workload="db"}`: "0.5"},
	"spokeshave:namespace_rate_usd":              {`{namespace="shop"}`: "3"},
	"spokeshave:idle_share":                      {`{}`: "0.25"},
	"spokeshave:cap_used_ratio":                  {`{kind="hard", policy="budget", scope="cluster"}`: "0.4"},
	"spokeshave:spot_share":                      {`{nodepool="general"}`: "0.75"},
	"spokeshave:spot_fallback_share":             {`{nodepool="general"}`: "0.25"},
	"spokeshave:spot_interruptions_per_node_day": {`{nodepool="general"}`: "48"},
	"spokeshave:pod_pending_seconds_p50":         {`{}`: "10"},
	"spokeshave:pod_pending_seconds_p99":         {`{}`: "59"},
	"spokeshave:disruptions_per_day":             {`{action="delete", reason="Empty"}`: "60"},
}
