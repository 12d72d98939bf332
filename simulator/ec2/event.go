package ec2

import (
	"fmt"
	"time"
)

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

func (s *Service) event(i *instance, kind string, now time.Time) (event, error) {
	e := event{
		Version: "0", ID: s.ids.UUID(), Source: "aws.ec2", Account: s.account.ID, Time: now.UTC().Truncate(time.Second),
		Region: s.account.Region, Resources: []string{s.account.ARN("ec2", "instance/"+i.id)},
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
			"instance-id": i.id, "instance-action": "terminate", "azId": i.spec.zone.ID,
			"instance-termination-time": now.UTC().Add(notice).Format(time.RFC3339),
		}
	case "stopped", "terminated":
		e.DetailType = "EC2 Instance State-change Notification"
		e.Detail = map[string]string{"instance-id": i.id, "state": kind}
	case "scheduled":
		e.Source, e.DetailType = "aws.health", "AWS Health Event"
		e.Detail = map[string]any{
			"eventArn": "arn:aws:health:" + s.account.Region + "::event/EC2/AWS_EC2_PERSISTENT_INSTANCE_RETIREMENT_SCHEDULED/" + e.ID,
			"service":  "EC2", "eventTypeCategory": "scheduledChange", "eventTypeCode": "AWS_EC2_PERSISTENT_INSTANCE_RETIREMENT_SCHEDULED",
			"startTime":        now.UTC().Add(retirement).Format(time.RFC1123),
			"affectedEntities": []map[string]string{{"entityValue": i.id}},
		}
	default:
		return e, fmt.Errorf("interrupt %s: kind %q: want spot, rebalance, scheduled, reservation, stopped or terminated", i.id, kind)
	}
	return e, nil
}
