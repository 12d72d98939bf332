package simulator

import (
	"time"
)

// State is the answer of GET /_sim/state.
type State struct {
	Time      time.Time       `json:"time"`
	Region    string          `json:"region"`
	Instances []InstanceState `json:"instances"`
	// Running counts pending and running instances; HourlyUSD is their price.
	Running   int     `json:"running"`
	HourlyUSD float64 `json:"hourlyUSD"`
	// Requests counts by action, then by error code ("" is success).
	Requests  map[string]map[string]int `json:"requests"`
	Faults    []Fault                   `json:"faults"`
	Templates []string                  `json:"launchTemplates"`
	Profiles  []string                  `json:"instanceProfiles"`
	Messages  map[string]int            `json:"messages"`
}

// State is a copy of what there is.
func (s *Server) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Clock.Now()
	s.world.ec2.Settle(now)
	out := State{
		Time: now, Region: s.cfg.Region, Requests: s.journal.numbers(), Faults: s.world.faults.List(),
		Templates: s.world.ec2.Templates(), Profiles: s.world.iam.Names(), Messages: s.world.sqs.Lengths(),
	}
	all, running, hourly := s.world.ec2.Instances(now)
	out.Instances, out.Running, out.HourlyUSD = all, running, hourly.USD()
	return out
}
