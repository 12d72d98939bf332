package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"spokeshave.dev/controller/cloud/provider"
)

// envelope is an event as EventBridge writes it.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-events-structure.html
type envelope struct {
	DetailType string          `json:"detail-type"`
	Source     string          `json:"source"`
	Time       time.Time       `json:"time"`
	Detail     json.RawMessage `json:"detail"`
}

// instanceDetail is what the events of aws.ec2 say of an instance.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/rebalance-recommendations.html
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitor-instance-state-changes.html
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitor-interruptible-cr.html
type instanceDetail struct {
	InstanceID  string `json:"instance-id"`
	State       string `json:"state"`
	Action      string `json:"instance-action"`
	Termination string `json:"instance-termination-time"`
}

// healthDetail is what an event of AWS Health says.
// https://docs.aws.amazon.com/health/latest/ug/aws-health-events-eventbridge-schema.html
type healthDetail struct {
	Service   string `json:"service"`
	Category  string `json:"eventTypeCategory"`
	Code      string `json:"eventTypeCode"`
	StartTime string `json:"startTime"`
	Affected  []struct {
		Entity string `json:"entityValue"`
	} `json:"affectedEntities"`
}

// spotNotice is how long a spot instance has left.
const spotNotice = 2 * time.Minute

// parseEvents reads the body of a message. A well-formed event that says
// nothing about instances going away is one of kind NoOp.
func parseEvents(body string) ([]provider.Event, error) {
	var e envelope
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		return nil, fmt.Errorf("parse event: %w", err)
	}
	switch {
	case e.DetailType == "" || e.Source == "":
		return nil, errors.New("parse event: it has no source or no detail-type")
	case e.Source == "aws.health" && e.DetailType == "AWS Health Event":
		return healthEvents(&e)
	case e.Source != "aws.ec2":
		return []provider.Event{{Kind: provider.NoOp, At: e.Time, Message: e.DetailType}}, nil
	}
	return instanceEvent(&e)
}

func instanceEvent(e *envelope) ([]provider.Event, error) {
	out := provider.Event{Kind: provider.NoOp, At: e.Time, Message: e.DetailType}
	var detail instanceDetail
	if err := json.Unmarshal(e.Detail, &detail); err != nil {
		return nil, fmt.Errorf("parse event %q: its detail: %w", e.DetailType, err)
	}
	switch e.DetailType {
	case "EC2 Spot Instance Interruption Warning":
		out.Kind, out.Deadline = provider.SpotInterrupted, e.Time.Add(spotNotice)
	case "EC2 Instance Rebalance Recommendation":
		out.Kind = provider.RebalanceRecommend
	case "EC2 Capacity Reservation Instance Interruption Warning":
		out.Kind, out.Deadline = provider.ReservationReclaims, e.Time.Add(spotNotice)
		if at, err := time.Parse(time.RFC3339, detail.Termination); err == nil {
			out.Deadline = at
		}
	case "EC2 Instance State-change Notification":
		out.Kind = kindOfState(detail.State)
		out.Message += ": " + detail.State
	}
	if out.Kind == provider.NoOp {
		return []provider.Event{out}, nil
	}
	if !strings.HasPrefix(detail.InstanceID, "i-") {
		return nil, fmt.Errorf("parse event %q: instance-id %q", e.DetailType, detail.InstanceID)
	}
	out.InstanceID = detail.InstanceID
	return []provider.Event{out}, nil
}

func kindOfState(state string) provider.EventKind {
	switch state {
	case "stopping", "stopped":
		return provider.InstanceStopped
	case "shutting-down", "terminated":
		return provider.InstanceTerminated
	default:
		return provider.NoOp
	}
}

func healthEvents(e *envelope) ([]provider.Event, error) {
	var detail healthDetail
	if err := json.Unmarshal(e.Detail, &detail); err != nil {
		return nil, fmt.Errorf("parse event %q: its detail: %w", e.DetailType, err)
	}
	var out []provider.Event
	if detail.Service == "EC2" && detail.Category == "scheduledChange" {
		start, err := http.ParseTime(detail.StartTime)
		if err != nil {
			start = time.Time{} // the day is for people; the node goes now
		}
		for _, a := range detail.Affected {
			if strings.HasPrefix(a.Entity, "i-") {
				out = append(out, provider.Event{
					Kind: provider.ScheduledChange, InstanceID: a.Entity, At: e.Time, Deadline: start, Message: detail.Code,
				})
			}
		}
	}
	if len(out) == 0 {
		out = append(out, provider.Event{Kind: provider.NoOp, At: e.Time, Message: detail.Code})
	}
	return out, nil
}
