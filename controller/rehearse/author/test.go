package author

import (
	"context"
	"errors"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/cases"
	"spokeshave.dev/controller/rehearse/simulate"
)

// CaseResult is the result of a test case.
type CaseResult struct {
	Policy string `json:"policy"`
	Name   string `json:"name"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Reason string `json:"reason,omitempty"`
	// Failures are of the form "file:line: text". A case without any has passed.
	Failures []string `json:"failures,omitempty"`
}

// Test runs the cases in the policy's folder. An error means that none could be run.
func (s *Source) Test(ctx context.Context) (out []CaseResult, err error) {
	all, err := cases.ReadDir(s.Dir)
	if err != nil {
		return nil, err
	}
	r := cases.Runner{Compile: s.Compile, Decide: decideScenario}
	defer func() { err = errors.Join(err, r.Close(ctx)) }()
	for i := range all {
		c := &all[i]
		one := CaseResult{Policy: s.Name(), Name: c.Name, File: c.File, Line: c.Line, Reason: c.Reason}
		for _, f := range r.Run(ctx, c) {
			one.Failures = append(one.Failures, f.String())
		}
		out = append(out, one)
	}
	return out, nil
}

// decideScenario makes the decision of a scenario with the policy added to those in
// force.
func decideScenario(ctx context.Context, s *cases.Scenario, p policy.Policy) (*cases.Plan, error) {
	info := p.Info()
	result, err := simulate.Run(ctx, simulate.Config{
		Disrupt:   info.Answers(policy.HookConsolidate),
		Manifests: s.Manifests, Policies: s.Policies, Compiled: []policy.Policy{p},
		Region: s.Region, Time: s.Time, Seed: s.Seed,
	})
	if err != nil {
		return nil, err
	}
	r := result.Report
	plan := &cases.Plan{Nodes: map[string]int{}, HourlyCost: r.HourlyCost, Unscheduled: map[string][]string{}, Kept: map[string]string{}}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		plan.Nodes[n.InstanceType+"/"+n.Zone+"/"+string(n.CapacityType)]++
	}
	for _, u := range r.Unscheduled {
		reasons := []string{}
		for _, reason := range u.Reasons {
			reasons = append(reasons, reason.Message)
		}
		plan.Unscheduled[u.Pod] = reasons
	}
	for _, d := range r.Disruptions {
		if d.Goes {
			plan.Removed = append(plan.Removed, d.Node)
		} else {
			plan.Kept[d.Node] = d.Reason
		}
	}
	for _, use := range r.Policies {
		if use.Name == info.Name && use.Fault != "" {
			plan.Faults = append(plan.Faults, use.Fault)
		}
	}
	return plan, nil
}
