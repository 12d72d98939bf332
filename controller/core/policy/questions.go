package policy

import "spokeshave.dev/controller/core/model"

// The yaml names are those of docs/spec/policy.md, section 4: authors write
// questions with them (controller/policy/cases).

// PoolFacts are what a policy learns about the NodePool in question.
type PoolFacts struct {
	Name   string            `yaml:"name"`
	Labels map[string]string `yaml:"labels"`
	// Pending totals the pods that wait for a node the pool may launch.
	PendingPods      int     `yaml:"pendingPods"`
	PendingCPU       float64 `yaml:"pendingCPU"`       // vCPU
	PendingMemoryGiB float64 `yaml:"pendingMemoryGiB"` // GiB
	// RunningNodes counts the pool's nodes, in-flight claims included.
	RunningNodes int `yaml:"runningNodes"`
	// SpotNodes counts those of RunningNodes that are spot instances.
	SpotNodes int `yaml:"spotNodes"`
	// ClusterOnDemand is what the on-demand nodes of all pools cost at their
	// on-demand price, in USD/hour: what compute savings plans are used for.
	ClusterOnDemand float64 `yaml:"clusterOnDemand"`
}

// RankInput asks for the effective cost of a pool's offerings.
type RankInput struct {
	Call
	Pool PoolFacts
	Rows []RankRow
	// Reuse is memory that the answers may be put into, as far as it goes.
	Reuse []RankAnswer
}

// RankRow is one offering: an instance type in a zone at a capacity type.
// Prices are in USD per hour.
type RankRow struct {
	InstanceType string             `yaml:"instanceType"`
	Family       string             `yaml:"family"`
	Zone         string             `yaml:"zone"`
	CapacityType model.CapacityType `yaml:"capacityType"`
	Arch         string             `yaml:"arch"`
	// Billed is the billed price, Cost the effective cost so far in the
	// pipeline (Billed for the first policy), OnDemand the type's on-demand
	// price in the zone (0 when it is not sold so).
	Billed    float64 `yaml:"billed"`
	Cost      float64 `yaml:"cost"`
	OnDemand  float64 `yaml:"onDemand"`
	VCPU      float64 `yaml:"vcpu"`
	MemoryGiB float64 `yaml:"memoryGiB"`
	// Interruption is the share of spot instances interrupted per month.
	Interruption float64 `yaml:"interruption"`
	// PodsFit is how many of the pool's mean pending pod fit; 0 if none waits.
	PodsFit uint32 `yaml:"podsFit"`
	GPUs    uint32 `yaml:"gpus"`
	// Running counts the pool's nodes of this very offering.
	Running uint32 `yaml:"running"`
	// RunningCluster counts the nodes of this offering in all pools, and
	// FamilyOnDemand is the on-demand price of all on-demand nodes of the
	// family, in USD/hour: how far a commitment is used already.
	RunningCluster uint32  `yaml:"runningCluster"`
	FamilyOnDemand float64 `yaml:"familyOnDemand"`
}

// RankAnswer is one row's answer.
type RankAnswer struct {
	// Score is the effective cost in USD/hour: finite and not negative.
	Score float64
	// MaxNodes is for how many nodes the score holds; 0 is unlimited.
	MaxNodes uint32
	// Group, if not 0, lets rows use up MaxNodes together: each node of one of
	// them takes 1/MaxNodes of what the group has. Shared makes it one group
	// for all NodePools of the decision.
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

// Candidate is a node that could go.
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
	// SinceDisruption is the seconds since a node of the pool last began to
	// go, -1 if none did within the hour; PoolEvictions and ClusterEvictions
	// count the pods that such nodes had, within the hour.
	SinceDisruption  float64 `yaml:"sinceDisruption"`
	PoolEvictions    int     `yaml:"poolEvictions"`
	ClusterEvictions int     `yaml:"clusterEvictions"`
}

// Verdict is what a consolidate policy says of a candidate.
type Verdict string

// The verdicts.
const (
	Allow Verdict = "allow"
	Deny  Verdict = "deny"
	Hold  Verdict = "hold"
)

// ConsolidateAnswer is one candidate's answer.
type ConsolidateAnswer struct {
	Verdict Verdict
	// HoldSeconds is how long a Hold lasts from the decision's time.
	HoldSeconds float64
	// Cost is added to the candidate's disruption cost; finite, not negative.
	Cost   float64
	Reason string
}

// CeilingInput asks for caps (Launches empty, before the solve) or for a
// review of the launches proposed (after it).
type CeilingInput struct {
	Call
	Scopes   []ScopeSpend
	Launches []Launch
}

// ScopeSpend is what a scope spends. Scopes are written "cluster",
// "nodepool/<name>", "label/<key>=<value>" and "namespace/<name>".
type ScopeSpend struct {
	Scope string `yaml:"-"` // the key, where scopes are written
	// RunningUSD and InFlightUSD are per hour, MonthToDateUSD is a sum since
	// the first of the month, UTC.
	RunningUSD     float64 `yaml:"runningUSD"`
	InFlightUSD    float64 `yaml:"inFlightUSD"`
	MonthToDateUSD float64 `yaml:"monthToDateUSD"`
	Nodes          int     `yaml:"nodes"`
}

// Launch is a node the plan would launch.
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

// Cap is the most a scope may spend. A nil bound is none.
type Cap struct {
	HourlyUSD  *float64 `json:"hourly_usd,omitempty"`
	MonthlyUSD *float64 `json:"monthly_usd,omitempty"`
	// Soft makes both of them warn and let through. SoftHourlyUSD and
	// SoftMonthlyUSD do so beside them.
	Soft           bool     `json:"soft,omitempty"`
	SoftHourlyUSD  *float64 `json:"soft_hourly_usd,omitempty"`
	SoftMonthlyUSD *float64 `json:"soft_monthly_usd,omitempty"`
}

// CeilingAnswer is a policy's caps by scope and its refusals by launch.
type CeilingAnswer struct {
	Caps map[string]Cap
	// Deny maps an index of CeilingInput.Launches to the reasons.
	Deny map[int][]string
}
