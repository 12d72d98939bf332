package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

var errNoInstance = errors.New("no such instance, or it is terminated")

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
	In *Duration `json:"in,omitempty"`
	// Queue is the interruption queue unless set.
	Queue string `json:"queue,omitempty"`
}

// Interrupt puts the event on the queue as EventBridge does, and does to the
// instance what the event announces.
func (s *Server) Interrupt(in Interruption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Clock.Now()
	i := s.state.instances[in.InstanceID]
	if i == nil || !i.alive(now) {
		return fmt.Errorf("interrupt %s: %w", in.InstanceID, errNoInstance)
	}
	name := in.Queue
	if name == "" {
		name = s.cfg.Queue
	}
	q := s.state.queues[name]
	if q == nil {
		return fmt.Errorf("interrupt %s: no queue %q", in.InstanceID, name)
	}
	e, err := s.event(i, in.Kind, now)
	if err != nil {
		return err
	}
	body, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write event for %s: %w", in.InstanceID, err)
	}
	s.put(q, string(body), now)
	switch in.Kind {
	case "", "spot", "reservation":
		after := notice
		if in.In != nil {
			after = in.In.Duration
		}
		s.end(i, now.Add(after), stateReason{"Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination"})
	case "scheduled":
		i.retiresAt = now.Add(retirement)
	case "stopped", "terminated":
		s.end(i, now, stateReason{"Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"})
	}
	return nil
}

// event is an EventBridge event about an instance.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-events-structure.html
type event struct {
	Version    string    `json:"version"`
	ID         string    `json:"id"`
	DetailType string    `json:"detail-type"`
	Source     string    `json:"source"`
	Account    string    `json:"account"`
	Time       time.Time `json:"time"`
	Region     string    `json:"region"`
	Resources  []string  `json:"resources"`
	Detail     any       `json:"detail"`
}

func (s *Server) event(i *instance, kind string, now time.Time) (event, error) {
	e := event{
		Version: "0", ID: s.uuid(), Source: "aws.ec2", Account: s.cfg.Account, Time: now.UTC().Truncate(time.Second),
		Region: s.cfg.Region, Resources: []string{s.arn("ec2", "instance/"+i.id)},
	}
	switch kind {
	case "", "spot":
		if !i.spec.spot {
			return e, fmt.Errorf("interrupt %s: it is not a spot instance", i.id)
		}
		e.DetailType = "EC2 Spot Instance Interruption Warning"
		e.Detail = map[string]string{"instance-id": i.id, "instance-action": "terminate"}
	case "rebalance":
		e.DetailType = "EC2 Instance Rebalance Recommendation"
		e.Detail = map[string]string{"instance-id": i.id}
	case "reservation":
		e.DetailType = "EC2 Capacity Reservation Instance Interruption Warning"
		e.Detail = map[string]string{
			"instance-id": i.id, "instance-action": "terminate", "azId": i.spec.zone.id,
			"instance-termination-time": now.UTC().Add(notice).Format(time.RFC3339),
		}
	case "stopped", "terminated":
		e.DetailType = "EC2 Instance State-change Notification"
		e.Detail = map[string]string{"instance-id": i.id, "state": kind}
	case "scheduled":
		e.Source, e.DetailType = "aws.health", "AWS Health Event"
		e.Detail = map[string]any{
			"eventArn": "arn:aws:health:" + s.cfg.Region + "::event/EC2/AWS_EC2_PERSISTENT_INSTANCE_RETIREMENT_SCHEDULED/" + e.ID,
			"service":  "EC2", "eventTypeCategory": "scheduledChange", "eventTypeCode": "AWS_EC2_PERSISTENT_INSTANCE_RETIREMENT_SCHEDULED",
			"startTime":        now.UTC().Add(retirement).Format(time.RFC1123),
			"affectedEntities": []map[string]string{{"entityValue": i.id}},
		}
	default:
		return e, fmt.Errorf("interrupt %s: kind %q: want spot, rebalance, scheduled, reservation, stopped or terminated", i.id, kind)
	}
	return e, nil
}

// StatusCheck is an order of POST /_sim/status: a status check of an instance
// fails from now on, or passes again.
type StatusCheck struct {
	InstanceID string `json:"instanceId"`
	// Check is instance or system.
	Check    string `json:"check"`
	Impaired bool   `json:"impaired"`
}

// SetStatus makes a status check fail or pass.
func (s *Server) SetStatus(in StatusCheck) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.state.instances[in.InstanceID]
	if i == nil {
		return fmt.Errorf("status of %s: %w", in.InstanceID, errNoInstance)
	}
	if in.Check != "instance" && in.Check != "system" {
		return fmt.Errorf("status of %s: check %q: want instance or system", in.InstanceID, in.Check)
	}
	if i.impaired == nil {
		i.impaired = make(map[string]time.Time)
	}
	delete(i.impaired, in.Check)
	if in.Impaired {
		i.impaired[in.Check] = s.cfg.Clock.Now()
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	if len(m) == 0 {
		return []string{}
	}
	return slices.Sorted(maps.Keys(m))
}
