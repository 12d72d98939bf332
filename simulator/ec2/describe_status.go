package ec2

import (
	"time"

	"spokeshave.dev/simulator/listing"
	"spokeshave.dev/simulator/operation"
)

type statusRequest struct {
	listing.Paging
	Filters        []listing.Filter `query:"Filter"`
	IDs            []string         `query:"InstanceId"`
	All            bool             `query:"IncludeAllInstances"`
	IncludeManaged bool             `query:"IncludeManagedResources"`
}

type statusXML struct {
	ID       string        `xml:"instanceId"`
	Zone     string        `xml:"availabilityZone"`
	ZoneID   string        `xml:"availabilityZoneId"`
	State    instanceState `xml:"instanceState"`
	System   statusSummary `xml:"systemStatus"`
	Instance statusSummary `xml:"instanceStatus"`
	Events   []statusEvent `xml:"eventsSet>item"`
}

type statusEvent struct {
	Code        string `xml:"code"`
	Description string `xml:"description"`
	NotBefore   string `xml:"notBefore"`
}

type statusSummary struct {
	Status  string         `xml:"status"`
	Details []statusDetail `xml:"details>item"`
}

type statusDetail struct {
	Name   string `xml:"name"`
	Status string `xml:"status"`
	Since  string `xml:"impairedSince,omitempty"`
}

// describeStatus tells the status checks, of running instances unless all
// are asked for.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceStatus.html
func (s *reader) describeStatus(c *operation.Call, in *statusRequest) (any, error) {
	asked, err := s.instances.asked(c, in.IDs, in.Paging)
	if err != nil {
		return nil, err
	}
	var all []statusXML
	for _, i := range asked {
		if state := i.state(c.Now); in.All || state == running() {
			all = append(all, statusXML{i.id, i.spec.zone.Name, i.spec.zone.ID, state, i.check("system", state), i.check("instance", state), i.planned()})
		}
	}
	found, err := listing.Choose(all, in.Filters, listing.By[statusXML]{Fields: listing.Fields[statusXML]{
		"availability-zone":      listing.Is(func(x statusXML) string { return x.Zone }),
		"availability-zone-id":   listing.Is(func(x statusXML) string { return x.ZoneID }),
		"instance-state-name":    listing.Is(func(x statusXML) string { return x.State.Name }),
		"instance-status.status": listing.Is(func(x statusXML) string { return x.Instance.Status }),
		"system-status.status":   listing.Is(func(x statusXML) string { return x.System.Status }),
		"instance-status.reachability": func(x statusXML) []string {
			return []string{x.Instance.Details[0].Status}
		},
		"event.code": func(x statusXML) []string {
			var codes []string
			for _, e := range x.Events {
				codes = append(codes, e.Code)
			}
			return codes
		},
		"system-status.reachability": func(x statusXML) []string {
			return []string{x.System.Details[0].Status}
		},
	}})
	if err != nil {
		return nil, err
	}
	items, next, err := listing.Page(found, in.Paging, 5, 1000)
	return struct {
		Statuses  []statusXML `xml:"instanceStatusSet>item"`
		NextToken string      `xml:"nextToken,omitempty"`
	}{items, next}, err
}

// check is the result of a status check, which passes unless it was told to
// fail.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-system-instance-status-check.html
func (i *instance) check(name string, state instanceState) statusSummary {
	if state != running() {
		return statusSummary{"not-applicable", []statusDetail{{"reachability", "insufficient-data", ""}}}
	}
	if since, bad := i.impaired[name]; bad {
		return statusSummary{"impaired", []statusDetail{{"reachability", "failed", since.UTC().Format(time.RFC3339)}}}
	}
	return statusSummary{"ok", []statusDetail{{"reachability", "passed", ""}}}
}

// planned are the instance's scheduled events.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-instances-status-check_sched.html
func (i *instance) planned() []statusEvent {
	if i.retiresAt.IsZero() {
		return nil
	}
	return []statusEvent{{"instance-retirement", "The instance is running on degraded hardware", i.retiresAt.UTC().Format(time.RFC3339)}}
}
