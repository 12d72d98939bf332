package ec2

import (
	"fmt"
	"time"
)

// StatusCheck is an order of POST /_sim/status: a status check of an instance
// fails from now on, or passes again.
type StatusCheck struct {
	InstanceID string `json:"instanceId"`
	// Check is instance or system.
	Check    string `json:"check"`
	Impaired bool   `json:"impaired"`
}

// SetStatus makes a status check fail or pass.
func (s *Service) SetStatus(in StatusCheck, now time.Time) error {
	i := s.instances.byID[in.InstanceID]
	if i == nil {
		return fmt.Errorf("status of %s: %w", in.InstanceID, ErrNoInstance)
	}
	if in.Check != "instance" && in.Check != "system" {
		return fmt.Errorf("status of %s: check %q: want instance or system", in.InstanceID, in.Check)
	}
	if i.impaired == nil {
		i.impaired = make(map[string]time.Time)
	}
	delete(i.impaired, in.Check)
	if in.Impaired {
		i.impaired[in.Check] = now
	}
	return nil
}
