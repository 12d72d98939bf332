package availability

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/bootstrap"
	"spokeshave.dev/controller/cloud/aws/client"
)

// blockNotice is how long before the end of a capacity block EC2 begins to end
// its instances; blockEnds is when nothing is launched into it any more and its
// nodes are drained, in time for that.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
const (
	blockNotice = 30 * time.Minute
	blockEnds   = blockNotice + 10*time.Minute
)

// Reservations finds the capacity reservations that EC2NodeClasses select, and knows how
// many more instances each takes.
type Reservations struct {
	EC2   client.Network
	Clock func() time.Time
	// Off finds none, whatever classes select.
	Off bool

	places places
	wanted wanted
}

// Find finds the active reservations for the class's operating
// system that any of its terms selects, sorted by id, and remembers how
// many places they have left. Nothing found is an empty list.
func (s *Reservations) Find(ctx context.Context, class *awsv1.EC2NodeClass) ([]awsv1.CapacityReservation, error) {
	if s.Off {
		return nil, nil
	}
	platform := types.CapacityReservationInstancePlatformLinuxUnix
	if _, _, windows := bootstrap.WindowsRelease(class.AMIFamily()); windows {
		platform = types.CapacityReservationInstancePlatformWindows
	}
	found := map[string]types.CapacityReservation{}
	for _, t := range class.Spec.CapacityReservationSelectorTerms {
		all, err := s.describe(ctx, t)
		if err != nil {
			return nil, err
		}
		for i := range all {
			if !usable(&all[i], platform) {
				continue
			}
			found[sdk.ToString(all[i].CapacityReservationId)] = all[i]
		}
	}
	now := s.Clock()
	out := make([]awsv1.CapacityReservation, 0, len(found))
	for id := range found {
		r := found[id]
		mine := reservationOf(&r, now)
		s.places.learn(id, placeCount{free: int(sdk.ToInt32(r.AvailableInstanceCount)), blockEnd: blockEnd(&mine)}, now)
		out = append(out, mine)
	}
	slices.SortFunc(out, func(a, b awsv1.CapacityReservation) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// describe asks for what one term selects. There is no filter by
// id, and an id that does not exist is an error.
func (s *Reservations) describe(ctx context.Context, t awsv1.CapacityReservationSelectorTerm) ([]types.CapacityReservation, error) {
	in := &ec2.DescribeCapacityReservationsInput{Filters: append(client.TagFilters(t.Tags), client.Filter("state", string(types.CapacityReservationStateActive)))}
	if t.ID != "" {
		in.CapacityReservationIds = []string{t.ID}
	}
	if t.OwnerID != "" {
		in.Filters = append(in.Filters, client.Filter("owner-id", t.OwnerID))
	}
	if t.InstanceMatchCriteria != "" {
		in.Filters = append(in.Filters, client.Filter("instance-match-criteria", t.InstanceMatchCriteria))
	}
	var out []types.CapacityReservation
	pages := ec2.NewDescribeCapacityReservationsPaginator(s.EC2, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return out, client.Gone(client.Fault(err, "describe capacity reservations"))
		}
		out = append(out, page.CapacityReservations...)
	}
	return out, nil
}

// usable leaves out what no node of the class fits: dedicated hosts, and other
// platforms.
func usable(r *types.CapacityReservation, platform types.CapacityReservationInstancePlatform) bool {
	return r.InstancePlatform == platform && r.Tenancy != types.CapacityReservationTenancyDedicated
}

func reservationOf(r *types.CapacityReservation, now time.Time) awsv1.CapacityReservation {
	out := awsv1.CapacityReservation{
		ID: sdk.ToString(r.CapacityReservationId), OwnerID: sdk.ToString(r.OwnerId),
		InstanceType: sdk.ToString(r.InstanceType), AvailabilityZone: sdk.ToString(r.AvailabilityZone),
		InstanceMatchCriteria: string(r.InstanceMatchCriteria), ReservationType: awsv1.ReservationTypeDefault,
		Interruptible: sdk.ToBool(r.Interruptible), State: awsv1.ReservationStateActive,
	}
	if r.ReservationType == types.CapacityReservationTypeCapacityBlock {
		out.ReservationType = awsv1.ReservationTypeCapacityBlock
	}
	if r.EndDate != nil {
		out.EndTime = &metav1.Time{Time: *r.EndDate}
		if out.ReservationType == awsv1.ReservationTypeCapacityBlock && now.Add(blockEnds).After(*r.EndDate) {
			out.State = awsv1.ReservationStateExpiring
		}
	}
	return out
}

// blockEnd is when a capacity block ends, zero for what is none.
func blockEnd(r *awsv1.CapacityReservation) time.Time {
	if r.ReservationType != awsv1.ReservationTypeCapacityBlock || r.EndTime == nil {
		return time.Time{}
	}
	return r.EndTime.Time
}

// open says whether nodes may be launched into a reservation.
func open(r *awsv1.CapacityReservation, now time.Time) bool {
	return r.State != awsv1.ReservationStateExpiring && (r.EndTime == nil || now.Before(r.EndTime.Time))
}

// For is the class's reservation of a type and zone that a launch
// draws on: a fleet takes one for each, so that it is the one with most room; what
// nobody takes back before what its owner may. Nil is none that is open.
func (s *Reservations) For(class *awsv1.EC2NodeClass, instanceType, zone string) *awsv1.CapacityReservation {
	var best *awsv1.CapacityReservation
	now := s.Clock()
	for i := range class.Status.CapacityReservations {
		r := &class.Status.CapacityReservations[i]
		if r.InstanceType != instanceType || r.AvailabilityZone != zone || !open(r, now) {
			continue
		}
		if best == nil || s.rather(r, best) {
			best = r
		}
	}
	return best
}

// rather says whether to draw on a before b.
func (s *Reservations) rather(a, b *awsv1.CapacityReservation) bool {
	mine, other := s.places.left(a.ID), s.places.left(b.ID)
	if a.Interruptible != b.Interruptible && mine > 0 && other > 0 {
		return !a.Interruptible
	}
	return mine > other
}

// ReservationLabels are what the nodes of a reservation carry.
func ReservationLabels(id, kind string, interruptible bool) map[string]string {
	return map[string]string{
		awsv1.LabelCapacityReservationID:            id,
		awsv1.LabelCapacityReservationType:          kind,
		awsv1.LabelCapacityReservationInterruptible: strconv.FormatBool(interruptible),
	}
}

// Left is how many more instances a reservation takes, 0 for an unknown one.
func (s *Reservations) Left(id string) int { return s.places.left(id) }

// Take notes a launch into a reservation.
func (s *Reservations) Take(id string, now time.Time) { s.places.take(id, now) }

// Exhausted notes that EC2 has found a reservation full.
func (s *Reservations) Exhausted(id string) { s.places.exhausted(id) }

// Ending are the capacity blocks about to end, by id: when EC2 begins to end their
// instances. What has ended is forgotten.
func (s *Reservations) Ending(now time.Time) map[string]Ending {
	out := map[string]Ending{}
	for id, end := range s.places.ending(now) {
		out[id] = Ending{At: end, Deadline: end.Add(-blockNotice)}
	}
	return out
}

// Ending is a capacity block about to end: At is when, Deadline when EC2 begins to end
// its instances.
type Ending struct{ At, Deadline time.Time }
