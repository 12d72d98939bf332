package backtest

import "time"

// Result is what a workload came to.
type Result struct {
	// Name is the policy set's.
	Name string `json:"name"`
	// USD is what all machines cost, volumes and addresses included; USDByType
	// and NodeHours are by capacity type.
	USD       float64            `json:"usd"`
	USDByType map[string]float64 `json:"usdByCapacityType"`
	NodeHours map[string]float64 `json:"nodeHours"`
	// Pods arrived, evicted ones not counted again.
	Pods int `json:"pods"`
	// PendingP50 and PendingP99 are how long pods waited for a node, in seconds.
	PendingP50 float64 `json:"pendingP50"`
	PendingP99 float64 `json:"pendingP99"`
	// Pending counts the pods that wait at the end.
	Pending   int `json:"pending"`
	Evictions int `json:"evictions"`
	// Interruptions counts spot interruptions, Survived those after which every
	// pod of the node ran elsewhere before the two minutes of notice were over.
	Interruptions int `json:"interruptions"`
	Survived      int `json:"interruptionsSurvived"`
	// CeilingHits counts the pods that a cap or a ceiling policy made wait.
	CeilingHits int `json:"ceilingHits"`
	// Launches counts machines started, Shortages requests that found none.
	Launches  int `json:"launches"`
	Shortages int `json:"shortages"`
	// Disrupted counts the nodes let go, by method.
	Disrupted map[string]int `json:"disrupted"`
	Decisions int            `json:"decisions"`
	// Curve has a sample per hour.
	Curve []Sample `json:"curve"`
}

// Sample is the cluster at one time.
type Sample struct {
	Time      time.Time `json:"time"`
	HourlyUSD float64   `json:"hourlyUSD"`
	Nodes     int       `json:"nodes"`
	Pods      int       `json:"pods"`
	Pending   int       `json:"pending"`
	// CPU is the share of the nodes' CPU that is asked for.
	CPU float64 `json:"cpu"`
}

// Report compares policy sets on one workload.
type Report struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	Seed  uint64    `json:"seed"`
	Sets  []*Result `json:"sets"`
}
