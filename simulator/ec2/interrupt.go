package ec2

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"spokeshave.dev/simulator/fault"
)

// ErrNoInstance is the error of an order about an instance that is not there.
var ErrNoInstance = errors.New("no such instance, or it is terminated")

// notice is how long before its end a spot instance is told.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html
const notice = 2 * time.Minute

// retirement is how long before its end an instance on failing hardware is told.
const retirement = 24 * time.Hour

// Interruption is an order of POST /_sim/interrupt.
type Interruption struct {
	InstanceID string `json:"instanceId"`
	// Kind is spot (the default: two minutes' notice, then the end), rebalance,
	// scheduled, reservation (two minutes' notice too), stopped or terminated (the
	// last two end the instance at once).
	Kind string `json:"kind,omitempty"`
	// In is the time to the end for spot, two minutes unless set.
	In *fault.Duration `json:"in,omitempty"`
	// Queue is the interruption queue unless set.
	Queue string `json:"queue,omitempty"`
}

// Interrupt hands the event to put, as EventBridge does to a queue, and then does
// to the instance what the event announces.
func (s *Service) Interrupt(in Interruption, now time.Time, put func(body string) error) error {
	i := s.instances.byID[in.InstanceID]
	if i == nil || !i.alive(now) {
		return fmt.Errorf("interrupt %s: %w", in.InstanceID, ErrNoInstance)
	}
	e, err := s.event(i, in.Kind, now)
	if err != nil {
		return err
	}
	body, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write event for %s: %w", in.InstanceID, err)
	}
	if err := put(string(body)); err != nil {
		return fmt.Errorf("interrupt %s: %w", in.InstanceID, err)
	}
	switch in.Kind {
	case "", "spot", "reservation":
		after := notice
		if in.In != nil {
			after = in.In.Duration
		}
		s.instances.end(i, now.Add(after), stateReason{"Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination"})
	case "scheduled":
		i.retiresAt = now.Add(retirement)
	case "stopped", "terminated":
		s.instances.end(i, now, stateReason{"Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"})
	}
	return nil
}
