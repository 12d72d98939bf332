package cases

import (
	"encoding/json"
	"time"

	"spokeshave.dev/controller/core/policy"
)

// Case is a question to a policy and the expected answer.
type Case struct {
	Name string
	// Reason says why the answer is expected.
	Reason string
	// File and Line are where the case begins.
	File string
	Line int

	Hook policy.Hook
	// Config replaces the policy's own configuration; nil keeps it.
	Config json.RawMessage
	Time   time.Time
	Seed   uint64
	// Scenario is a decision to make instead of a single question; nil for none.
	Scenario *Scenario

	rank        *rankQuestion
	consolidate *consolidateQuestion
	ceiling     *ceilingQuestion
	expect      expect
	at          lines
}

// Scenario is a decision about the objects in manifests.
type Scenario struct {
	// Manifests are paths of manifest files and folders. Policies are paths of
	// further policies.
	Manifests []string
	Policies  []string
	// Region selects the embedded catalogue; empty uses that of the manifests.
	Region string
	Time   time.Time
	Seed   uint64
}

// Plan is the summary of a decision that a scenario is compared with.
type Plan struct {
	// Nodes counts the nodes launched by "type/zone/capacity type".
	Nodes map[string]int
	// HourlyCost is the billed price of all nodes launched, USD.
	HourlyCost float64
	// Unscheduled holds the reasons of the pods without a place, by namespace/name.
	Unscheduled map[string][]string
	// Removed are the running nodes to be removed. Kept maps the other nodes that
	// were considered to the reason for keeping them.
	Removed []string
	Kept    map[string]string
	// Faults are the faults of the policy under test.
	Faults []string
}

// The format of a file. Questions use the policies' own types; row fills in what
// their rows leave out.
type (
	fileYAML struct {
		Cases []caseYAML `yaml:"cases"`
	}
	caseYAML struct {
		Name     string    `yaml:"name"`
		Reason   string    `yaml:"reason"`
		Hook     string    `yaml:"hook"`
		Config   any       `yaml:"config"`
		Time     string    `yaml:"time"`
		Seed     *uint64   `yaml:"seed"`
		Scenario any       `yaml:"scenario"`
		Policies []string  `yaml:"policies"`
		Region   string    `yaml:"region"`
		Input    inputYAML `yaml:"input"`
		Expect   expect    `yaml:"expect"`
	}
	inputYAML struct {
		Pool       *policy.PoolFacts            `yaml:"pool"`
		Offerings  []offeringYAML               `yaml:"offerings"`
		Candidates []policy.Candidate           `yaml:"candidates"`
		Spend      map[string]policy.ScopeSpend `yaml:"spend"`
		Launches   []launchYAML                 `yaml:"launches"`
	}
	offeringYAML struct {
		ID             string     `yaml:"id"`
		Tiers          []tierYAML `yaml:"tiers"`
		policy.RankRow `yaml:",inline"`
	}
	tierYAML struct {
		Until uint32  `yaml:"until"`
		Cost  float64 `yaml:"cost"`
	}
	launchYAML struct {
		ID            string `yaml:"id"`
		policy.Launch `yaml:",inline"`
	}
)

// expect is what a case expects. Fields that are left out are not checked, except
// that every exclusion, denial and fault must be expected.
type expect struct {
	Fault     string `yaml:"fault"`
	NoOpinion *bool  `yaml:"noOpinion"`

	// rank, by id
	Scores    map[string]float64    `yaml:"scores"`
	Tolerance float64               `yaml:"tolerance"`
	Order     []string              `yaml:"order"`
	Excluded  map[string]string     `yaml:"excluded"`
	Reasons   map[string]string     `yaml:"reasons"`
	MaxNodes  map[string]uint32     `yaml:"maxNodes"`
	Groups    map[string]uint32     `yaml:"groups"`
	Tiers     map[string][]tierYAML `yaml:"tiers"`

	// consolidate, by node
	Verdicts map[string]verdictYAML `yaml:"verdicts"`

	// ceiling
	Caps   map[string]capYAML `yaml:"caps"`
	Denied map[string]string  `yaml:"denied"`

	// scenario
	Plan *planYAML `yaml:"plan"`
}

type (
	verdictYAML struct {
		Verdict string   `yaml:"verdict"`
		Hold    *float64 `yaml:"holdSeconds"`
		Reason  *string  `yaml:"reason"`
		Cost    *float64 `yaml:"cost"`
	}
	capYAML struct {
		HourlyUSD  *float64 `yaml:"hourly_usd"`
		MonthlyUSD *float64 `yaml:"monthly_usd"`
		Soft       bool     `yaml:"soft"`

		SoftHourlyUSD  *float64 `yaml:"soft_hourly_usd"`
		SoftMonthlyUSD *float64 `yaml:"soft_monthly_usd"`
	}
	planYAML struct {
		Nodes       map[string]int    `yaml:"nodes"`
		HourlyCost  *float64          `yaml:"hourlyCost"`
		Unscheduled []unscheduledYAML `yaml:"unscheduled"`
		Removed     []string          `yaml:"removed"`
		Kept        map[string]string `yaml:"kept"`
	}
	unscheduledYAML struct {
		Pods   string `yaml:"pods"`
		Count  *int   `yaml:"count"`
		Reason string `yaml:"reason"`
	}
)
