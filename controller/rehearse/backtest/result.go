package backtest

import "time"

// Result is the outcome of a workload with one policy set.
//
// Size: one field for each figure of the report.
type Result struct {
	// Name is the policy set's.
	Name string `json:"name"`
	// USD is the cost of all machines, volumes and addresses included. USDByType and
	// NodeHours are by capacity type.
	USD       float64            `json:"usd"`
	USDByType map[string]float64 `json:"usdByCapacityType"`
	NodeHours map[string]float64 `json:"nodeHours"`
	// Pods is the number of pods that arrived; evicted pods are not counted again.
	Pods int `json:"pods"`
	// PendingP50 and PendingP99 are how long pods waited for a node, in seconds.
	PendingP50 float64 `json:"pendingP50"`
	PendingP99 float64 `json:"pendingP99"`
	// Pending is the number of pods that wait at the end.
	Pending   int `json:"pending"`
	Evictions int `json:"evictions"`
	// Interruptions is the number of spot interruptions. Survived is the number of
	// those after which every pod of the node ran elsewhere within the two minutes of
	// notice.
	Interruptions int `json:"interruptions"`
	Survived      int `json:"interruptionsSurvived"`
	// CeilingHits is the number of pods that had to wait because of a cap or a ceiling
	// policy.
	CeilingHits int `json:"ceilingHits"`
	// Launches is the number of machines started, Shortages that of requests for which
	// nothing was in stock.
	Launches  int `json:"launches"`
	Shortages int `json:"shortages"`
	// Disrupted is the number of nodes that were removed, by method.
	Disrupted map[string]int `json:"disrupted"`
	Decisions int            `json:"decisions"`
	// Curve has a sample per hour.
	Curve []Sample `json:"curve"`
}

// Sample is the state of the cluster at one time.
type Sample struct {
	Time      time.Time `json:"time"`
	HourlyUSD float64   `json:"hourlyUSD"`
	Nodes     int       `json:"nodes"`
	Pods      int       `json:"pods"`
	Pending   int       `json:"pending"`
	// CPU is the share of the nodes' CPU that pods request.
	CPU float64 `json:"cpu"`
}

// Report compares policy sets on one workload.
type Report struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	Seed  uint64    `json:"seed"`
	Sets  []*Result `json:"sets"`
}
