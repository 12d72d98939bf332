package policy

import "spokeshave.dev/controller/core/model"

// The yaml names are those of docs/spec/policy.md, section 4. Authors of test cases
// write questions with them (controller/policy/cases).

// PoolFacts describe the NodePool that a rank question is about.
type PoolFacts struct {
	Name   string            `yaml:"name"`
	Labels map[string]string `yaml:"labels"`
	// PendingPods counts the pods that wait for a node of the pool. PendingCPU and
	// PendingMemoryGiB are the sums of their requests.
	PendingPods      int     `yaml:"pendingPods"`
	PendingCPU       float64 `yaml:"pendingCPU"`       // vCPU
	PendingMemoryGiB float64 `yaml:"pendingMemoryGiB"` // GiB
	// RunningNodes counts the pool's nodes, in-flight claims included.
	RunningNodes int `yaml:"runningNodes"`
	// SpotNodes counts those of RunningNodes that are spot instances.
	SpotNodes int `yaml:"spotNodes"`
	// ClusterOnDemand is the price of the on-demand nodes of all pools at the
	// on-demand rate, in USD/hour. Compute savings plans apply to it.
	ClusterOnDemand float64 `yaml:"clusterOnDemand"`
}

// RankInput asks for the effective cost of a pool's offerings.
type RankInput struct {
	Call
	Pool PoolFacts
	Rows []RankRow
	// Reuse is memory that the policy may use for its answers; nil for none.
	Reuse []RankAnswer
}

// RankRow is one offering: an instance type in a zone at a capacity type.
// Prices are in USD per hour.
//
// Size: the fields of an offering in docs/spec/policy.md.
type RankRow struct {
	InstanceType string             `yaml:"instanceType"`
	Family       string             `yaml:"family"`
	Zone         string             `yaml:"zone"`
	CapacityType model.CapacityType `yaml:"capacityType"`
	Arch         string             `yaml:"arch"`
	// Billed is the billed price. Cost is the effective cost after the policies
	// asked before (Billed for the first). OnDemand is the type's on-demand price in
	// the zone, 0 when it is not offered on demand.
	Billed    float64 `yaml:"billed"`
	Cost      float64 `yaml:"cost"`
	OnDemand  float64 `yaml:"onDemand"`
	VCPU      float64 `yaml:"vcpu"`
	MemoryGiB float64 `yaml:"memoryGiB"`
	// Interruption is the fraction of spot instances that are interrupted per month.
	Interruption float64 `yaml:"interruption"`
	// PodsFit is how many pods of the mean pending pod's size fit; 0 if none waits.
	PodsFit uint32 `yaml:"podsFit"`
	GPUs    uint32 `yaml:"gpus"`
	// Running counts the pool's nodes of this offering.
	Running uint32 `yaml:"running"`
	// RunningCluster counts the nodes of this offering in all pools. FamilyOnDemand
	// is the on-demand price of all on-demand nodes of the family, in USD/hour. Both
	// tell how much of a commitment is used.
	RunningCluster uint32  `yaml:"runningCluster"`
	FamilyOnDemand float64 `yaml:"familyOnDemand"`
}

// RankAnswer is a rank policy's answer about one row.
type RankAnswer struct {
	// Score is the effective cost in USD/hour: finite and not negative.
	Score float64
	// MaxNodes is the number of nodes for which the score holds; 0 is unlimited.
	MaxNodes uint32
	// Group, if not 0, makes several rows share MaxNodes: each node of one of them
	// uses 1/MaxNodes of the group. With Shared the group spans all NodePools of the
	// decision.
	Group   uint32
	Shared  bool
	Exclude bool
	Reason  string
}

// ConsolidateInput asks which candidates may be disrupted.
type ConsolidateInput struct {
	Call
	Candidates []Candidate
}

// Candidate is a node that may be disrupted.
//
// Size: the fields of a candidate in docs/spec/policy.md.
type Candidate struct {
	Node     string            `yaml:"node"`
	Claim    string            `yaml:"claim"`
	NodePool string            `yaml:"nodePool"`
	PoolTags map[string]string `yaml:"nodePoolLabels"`
	Labels   map[string]string `yaml:"labels"`
	// Method is Empty, Underutilized, Drifted or Expired; Action is delete or
	// replace.
	Method       string  `yaml:"method"`
	Action       string  `yaml:"action"`
	InstanceType string  `yaml:"instanceType"`
	Zone         string  `yaml:"zone"`
	CapacityType string  `yaml:"capacityType"`
	Price        float64 `yaml:"price"`   // billed, USD/hour
	Savings      float64 `yaml:"savings"` // USD/hour
	Pods         int     `yaml:"pods"`    // pods that would move
	AgeSeconds   float64 `yaml:"ageSeconds"`
	// IdleSeconds is the time since the last pod event.
	IdleSeconds       float64 `yaml:"idleSeconds"`
	CPUUtilisation    float64 `yaml:"cpuUtilisation"`    // requests / allocatable
	MemoryUtilisation float64 `yaml:"memoryUtilisation"` // requests / allocatable
	Cost              float64 `yaml:"cost"`              // disruption cost so far
	// JobPods counts the node's pods that belong to a Job.
	JobPods int `yaml:"jobPods"`
	// SinceDisruption is the time since a node of the pool last began to terminate,
	// in seconds; -1 if none did within the last hour. PoolEvictions and
	// ClusterEvictions count the pods of the nodes that did within that hour.
	SinceDisruption  float64 `yaml:"sinceDisruption"`
	PoolEvictions    int     `yaml:"poolEvictions"`
	ClusterEvictions int     `yaml:"clusterEvictions"`
	// MoveCost is what the moves of the node's pods have to save, in USD/hour.
	MoveCost float64 `yaml:"moveCost"`
}

// Verdict is a consolidate policy's answer about a candidate.
type Verdict string

// The verdicts.
const (
	Allow Verdict = "allow"
	Deny  Verdict = "deny"
	Hold  Verdict = "hold"
)

// ConsolidateAnswer is a consolidate policy's answer about one candidate.
type ConsolidateAnswer struct {
	Verdict Verdict
	// HoldSeconds is how long a Hold lasts from the decision's time.
	HoldSeconds float64
	// Cost is added to the candidate's disruption cost. It is finite and not
	// negative.
	Cost   float64
	Reason string
}

// CeilingInput asks for caps when Launches is empty, which is before the solve.
// After the solve it asks for a review of the proposed Launches.
type CeilingInput struct {
	Call
	Scopes   []ScopeSpend
	Launches []Launch
}

// ScopeSpend is what a scope spends. Scope names are "cluster", "nodepool/<name>",
// "label/<key>=<value>" and "namespace/<name>".
type ScopeSpend struct {
	Scope string `yaml:"-"` // the key, where scopes are written
	// RunningUSD and InFlightUSD are per hour. MonthToDateUSD is the sum since the
	// first of the month, UTC.
	RunningUSD     float64 `yaml:"runningUSD"`
	InFlightUSD    float64 `yaml:"inFlightUSD"`
	MonthToDateUSD float64 `yaml:"monthToDateUSD"`
	Nodes          int     `yaml:"nodes"`
}

// Launch is a node that the plan would launch, with one of its options.
type Launch struct {
	NodePool     string            `yaml:"nodePool"`
	PoolTags     map[string]string `yaml:"nodePoolLabels"`
	InstanceType string            `yaml:"instanceType"`
	Family       string            `yaml:"family"`
	Zone         string            `yaml:"zone"`
	CapacityType string            `yaml:"capacityType"`
	Price        float64           `yaml:"price"`      // billed, USD/hour
	WorstPrice   float64           `yaml:"worstPrice"` // dearest option, USD/hour
	OnDemand     float64           `yaml:"onDemand"`   // USD/hour, 0 when unknown
	VCPU         float64           `yaml:"vcpu"`
	MemoryGiB    float64           `yaml:"memoryGiB"`
	GPUs         int               `yaml:"gpus"`
	Pods         int               `yaml:"pods"`
	Namespaces   []string          `yaml:"namespaces"`
}

// Cap is the most that a scope may spend. A nil bound sets no limit.
type Cap struct {
	HourlyUSD  *float64 `json:"hourly_usd,omitempty"`
	MonthlyUSD *float64 `json:"monthly_usd,omitempty"`
	// Soft makes HourlyUSD and MonthlyUSD warn instead of limit. SoftHourlyUSD and
	// SoftMonthlyUSD are soft bounds in addition to the hard ones.
	Soft           bool     `json:"soft,omitempty"`
	SoftHourlyUSD  *float64 `json:"soft_hourly_usd,omitempty"`
	SoftMonthlyUSD *float64 `json:"soft_monthly_usd,omitempty"`
}

// CeilingAnswer holds a policy's caps by scope and its refusals by launch.
type CeilingAnswer struct {
	Caps map[string]Cap
	// Deny maps an index of CeilingInput.Launches to the reasons for refusing it.
	Deny map[int][]string
}
