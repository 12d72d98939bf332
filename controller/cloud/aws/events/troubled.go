package events

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"spokeshave.dev/controller/cloud/aws/availability"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/aws/instances"
	"spokeshave.dev/controller/cloud/provider"
)

// impairedFor is how long a status check must have failed to be believed.
const impairedFor = 2 * time.Minute

// Watch asks EC2 for instances in trouble that no queue announces.
type Watch struct {
	EC2       client.Instances
	Instances *instances.Instances
	// Reservations tells of capacity blocks that are about to end.
	Reservations *availability.Reservations
	Clock        func() time.Time
}

// Troubled are instances whose status checks have failed for two minutes, those with a
// scheduled event, and those of capacity blocks that end soon. EC2 knows no filter by tag here, so
// that instances of others are told of as well.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceStatus.html
func (w *Watch) Troubled(ctx context.Context) ([]provider.Event, error) {
	var out []provider.Event
	for _, each := range []struct {
		filter string
		values []string
	}{
		{"instance-status.status", []string{string(types.SummaryStatusImpaired)}},
		{"system-status.status", []string{string(types.SummaryStatusImpaired)}},
		{"event.code", []string{"instance-reboot", "system-reboot", "system-maintenance", "instance-retirement", "instance-stop"}},
	} {
		pages := ec2.NewDescribeInstanceStatusPaginator(w.EC2, &ec2.DescribeInstanceStatusInput{
			Filters: []types.Filter{{Name: sdk.String(each.filter), Values: each.values}},
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, client.Fault(err, "describe instances by %s", each.filter)
			}
			for i := range page.InstanceStatuses {
				if e, ok := w.trouble(&page.InstanceStatuses[i], each.filter); ok {
					out = append(out, e)
				}
			}
		}
	}
	ending, err := w.blocksEnding(ctx)
	return append(out, ending...), err
}

// blocksEnding are the instances of capacity blocks that end soon: EC2 announces
// that too late for a drain. Deadline is when EC2 begins to end them.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
func (w *Watch) blocksEnding(ctx context.Context) ([]provider.Event, error) {
	now := w.Clock()
	ends := w.Reservations.Ending(now)
	if len(ends) == 0 {
		return nil, nil
	}
	found, err := w.Instances.Find(ctx, client.Filter("capacity-reservation-id", slices.Sorted(maps.Keys(ends))...), instances.Living())
	if err != nil {
		return nil, client.Fault(err, "find the instances of capacity blocks that end")
	}
	out := make([]provider.Event, 0, len(found))
	for i := range found {
		end := ends[found[i].ReservationID]
		out = append(out, provider.Event{
			Kind: provider.ReservationEnds, InstanceID: instances.IDOf(&found[i]), At: now, Deadline: end.Deadline,
			Message: "capacity block " + found[i].ReservationID + " ends at " + end.At.UTC().Format(time.RFC3339),
		})
	}
	return out, nil
}

// trouble is what the status says of the filter's subject.
func (w *Watch) trouble(s *types.InstanceStatus, filter string) (provider.Event, bool) {
	e := provider.Event{InstanceID: sdk.ToString(s.InstanceId), At: w.Clock()}
	switch filter {
	case "instance-status.status":
		e.Kind, e.Message = provider.InstanceStatus, "the instance's status check fails"
		return e, w.lasting(s.InstanceStatus)
	case "system-status.status":
		e.Kind, e.Message = provider.SystemStatus, "the status check of the instance's host fails"
		return e, w.lasting(s.SystemStatus)
	}
	e.Kind = provider.EventStatus
	for i := range s.Events {
		what := &s.Events[i]
		// What is over stays in the list for a week, with a word in front.
		text := sdk.ToString(what.Description)
		if strings.HasPrefix(text, "[Completed]") || strings.HasPrefix(text, "[Canceled]") {
			continue
		}
		e.Message = "AWS plans " + string(what.Code)
		e.Deadline = sdk.ToTime(what.NotBefore)
		return e, true
	}
	return e, false
}

// lasting says whether a check has failed long enough.
func (w *Watch) lasting(s *types.InstanceStatusSummary) bool {
	if s == nil || s.Status != types.SummaryStatusImpaired {
		return false
	}
	for i := range s.Details {
		since := s.Details[i].ImpairedSince
		if s.Details[i].Status == types.StatusTypeFailed && since != nil && w.Clock().Sub(*since) >= impairedFor {
			return true
		}
	}
	return false
}
