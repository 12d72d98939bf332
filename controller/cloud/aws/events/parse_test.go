package events

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/cloud/provider"
)

func TestParseEvents(t *testing.T) {
	at := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	event := func(source, kind, detail string) string {
		return fmt.Sprintf(`{"version":"0","id":"1","detail-type":%q,"source":%q,"time":"2026-03-02T10:00:00Z","detail":%s}`, kind, source, detail)
	}
	for name, c := range map[string]struct {
		body string
		want []provider.Event
	}{
		"spot": {
			body: event("aws.ec2", "EC2 Spot Instance Interruption Warning", `{"instance-id":"i-1","instance-action":"terminate"}`),
			want: []provider.Event{{Kind: provider.SpotInterrupted, InstanceID: "i-1", At: at, Deadline: at.Add(2 * time.Minute), Message: "EC2 Spot Instance Interruption Warning"}},
		},
		"rebalance": {
			body: event("aws.ec2", "EC2 Instance Rebalance Recommendation", `{"instance-id":"i-1"}`),
			want: []provider.Event{{Kind: provider.RebalanceRecommend, InstanceID: "i-1", At: at, Message: "EC2 Instance Rebalance Recommendation"}},
		},
		"stopping": {
			body: event("aws.ec2", "EC2 Instance State-change Notification", `{"instance-id":"i-1","state":"stopping"}`),
			want: []provider.Event{{Kind: provider.InstanceStopped, InstanceID: "i-1", At: at, Message: "EC2 Instance State-change Notification: stopping"}},
		},
		"shutting down": {
			body: event("aws.ec2", "EC2 Instance State-change Notification", `{"instance-id":"i-1","state":"shutting-down"}`),
			want: []provider.Event{{Kind: provider.InstanceTerminated, InstanceID: "i-1", At: at, Message: "EC2 Instance State-change Notification: shutting-down"}},
		},
		"running": {
			body: event("aws.ec2", "EC2 Instance State-change Notification", `{"instance-id":"i-1","state":"running"}`),
			want: []provider.Event{{Kind: provider.NoOp, At: at, Message: "EC2 Instance State-change Notification: running"}},
		},
		"reservation": {
			body: event("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning", `{"instance-id":"i-1","instance-action":"terminate","instance-termination-time":"2026-03-02T10:01:30Z"}`),
			want: []provider.Event{{Kind: provider.ReservationReclaims, InstanceID: "i-1", At: at, Deadline: at.Add(90 * time.Second), Message: "EC2 Capacity Reservation Instance Interruption Warning"}},
		},
		"health, two instances": {
			body: event("aws.health", "AWS Health Event", `{"service":"EC2","eventTypeCategory":"scheduledChange","eventTypeCode":"RETIREMENT","startTime":"Tue, 03 Mar 2026 10:00:00 GMT","affectedEntities":[{"entityValue":"i-1"},{"entityValue":"i-2"}]}`),
			want: []provider.Event{
				{Kind: provider.ScheduledChange, InstanceID: "i-1", At: at, Deadline: at.Add(24 * time.Hour), Message: "RETIREMENT"},
				{Kind: provider.ScheduledChange, InstanceID: "i-2", At: at, Deadline: at.Add(24 * time.Hour), Message: "RETIREMENT"},
			},
		},
		"health of another service": {
			body: event("aws.health", "AWS Health Event", `{"service":"RDS","eventTypeCategory":"scheduledChange","eventTypeCode":"X"}`),
			want: []provider.Event{{Kind: provider.NoOp, At: at, Message: "X"}},
		},
		"another source": {
			body: event("aws.autoscaling", "EC2 Instance Launch Successful", `{}`),
			want: []provider.Event{{Kind: provider.NoOp, At: at, Message: "EC2 Instance Launch Successful"}},
		},
		"not JSON":    {body: "hello"},
		"no source":   {body: `{"detail-type":"x"}`},
		"no instance": {body: event("aws.ec2", "EC2 Spot Instance Interruption Warning", `{}`)},
		"bad detail":  {body: event("aws.ec2", "EC2 Spot Instance Interruption Warning", `[]`)},
		"bad health":  {body: event("aws.health", "AWS Health Event", `"x"`)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseEvents(c.body)
			if (err != nil) != (c.want == nil) {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParseEvents(f *testing.F) {
	f.Add(`{"detail-type":"EC2 Spot Instance Interruption Warning","source":"aws.ec2","time":"2026-03-02T10:00:00Z","detail":{"instance-id":"i-1"}}`)
	f.Add(`{"detail-type":"AWS Health Event","source":"aws.health","detail":{"service":"EC2","eventTypeCategory":"scheduledChange","affectedEntities":[{}]}}`)
	f.Fuzz(func(t *testing.T, body string) {
		events, err := parseEvents(body)
		if err == nil && len(events) == 0 {
			t.Error("no error and no event")
		}
		for _, e := range events {
			if (e.Kind == provider.NoOp) != (e.InstanceID == "") {
				t.Errorf("%+v: an instance for every kind but no_op", e)
			}
		}
	})
}
