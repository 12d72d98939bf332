package aws

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
)

// blockNotice is how long before the end of a capacity block EC2 begins to end
// its instances; blockEnds is when nothing is launched into it any more and its
// nodes are drained, in time for that.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
const (
	blockNotice = 30 * time.Minute
	blockEnds   = blockNotice + 10*time.Minute
)

// CapacityReservations finds the active reservations for the class's operating
// system that any of its terms selects, sorted by id, and remembers how much room
// they have. Nothing found is an empty list.
func (p *Provider) CapacityReservations(ctx context.Context, class *awsv1.EC2NodeClass) ([]awsv1.CapacityReservation, error) {
	platform := types.CapacityReservationInstancePlatformLinuxUnix
	if _, _, windows := windowsRelease(class.AMIFamily()); windows {
		platform = types.CapacityReservationInstancePlatformWindows
	}
	found := map[string]types.CapacityReservation{}
	for _, t := range class.Spec.CapacityReservationSelectorTerms {
		all, err := p.describeReservations(ctx, t)
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
	now := p.cfg.Clock()
	out := make([]awsv1.CapacityReservation, 0, len(found))
	for id := range found {
		r := found[id]
		mine := reservationOf(&r, now)
		p.reserved.learn(id, reservedCount{free: int(sdk.ToInt32(r.AvailableInstanceCount)), blockEnd: blockEnd(&mine)}, now)
		out = append(out, mine)
	}
	slices.SortFunc(out, func(a, b awsv1.CapacityReservation) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// describeReservations asks for what one term selects. There is no filter by
// id, and an id that does not exist is an error.
func (p *Provider) describeReservations(ctx context.Context, t awsv1.CapacityReservationSelectorTerm) ([]types.CapacityReservation, error) {
	in := &ec2.DescribeCapacityReservationsInput{Filters: append(tagFilters(t.Tags), filter("state", string(types.CapacityReservationStateActive)))}
	if t.ID != "" {
		in.CapacityReservationIds = []string{t.ID}
	}
	if t.OwnerID != "" {
		in.Filters = append(in.Filters, filter("owner-id", t.OwnerID))
	}
	if t.InstanceMatchCriteria != "" {
		in.Filters = append(in.Filters, filter("instance-match-criteria", t.InstanceMatchCriteria))
	}
	var out []types.CapacityReservation
	pages := ec2.NewDescribeCapacityReservationsPaginator(p.sdk.EC2, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return out, gone(fault(err, "describe capacity reservations"))
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

// reservedRoom is how much room reservations have, as EC2 said last, less what
// was launched since.
type reservedRoom struct {
	mu   sync.Mutex
	free map[string]reservedCount
}

type reservedCount struct {
	free int
	// blockEnd is when a capacity block ends, zero for other reservations.
	blockEnd time.Time
	// taken are the launches since EC2's figure may not have known of them.
	taken []time.Time
}

// countLag is how long EC2's count of free places may miss a launch.
const countLag = 30 * time.Second

func (r *reservedRoom) learn(id string, c reservedCount, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.free == nil {
		r.free = map[string]reservedCount{}
	}
	c.taken = slices.DeleteFunc(slices.Clone(r.free[id].taken), func(at time.Time) bool { return now.Sub(at) > countLag })
	r.free[id] = c
}

// take notes a launch into a reservation.
func (r *reservedRoom) take(id string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, known := r.free[id]; known {
		c.taken = append(slices.Clone(c.taken), now)
		r.free[id] = c
	}
}

// exhausted notes that EC2 has found a reservation full.
func (r *reservedRoom) exhausted(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, known := r.free[id]; known {
		c.free, c.taken = 0, nil
		r.free[id] = c
	}
}

// left is how many more instances a reservation takes, 0 for an unknown one.
func (r *reservedRoom) left(id string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.free[id]
	return max(0, c.free-len(c.taken))
}

// ending are the capacity blocks about to end, and when. What has ended is
// forgotten.
func (r *reservedRoom) ending(now time.Time) map[string]time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]time.Time{}
	for id, c := range r.free {
		switch {
		case c.blockEnd.IsZero() || now.Add(blockEnds).Before(c.blockEnd):
		case now.Before(c.blockEnd):
			out[id] = c.blockEnd
		default:
			delete(r.free, id)
		}
	}
	return out
}

// knowReservations asks EC2 how much room the class's reservations have, when
// this process has not heard of one of them yet. What cannot be found out has no
// room until the class is resolved again.
func (p *Provider) knowReservations(ctx context.Context, class *awsv1.EC2NodeClass) {
	all := class.Status.CapacityReservations
	if !slices.ContainsFunc(all, func(r awsv1.CapacityReservation) bool { return !p.reserved.knows(r.ID) }) {
		return
	}
	if _, err := p.CapacityReservations(ctx, class); err != nil {
		p.cfg.Log.Error(err, "launch into no capacity reservation for now", "EC2NodeClass", class.Name)
	}
	for i := range all {
		p.reserved.mention(all[i].ID)
	}
}

func (r *reservedRoom) knows(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, known := r.free[id]
	return known
}

// mention makes an unknown reservation a known one without room.
func (r *reservedRoom) mention(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.free[id]; !known {
		if r.free == nil {
			r.free = map[string]reservedCount{}
		}
		r.free[id] = reservedCount{}
	}
}

// reservationFor is the class's reservation of a type and zone that a launch
// draws on: a fleet takes one for each, so that it is the one with most room; what
// nobody takes back before what its owner may. Nil is none that is open.
func (p *Provider) reservationFor(class *awsv1.EC2NodeClass, instanceType, zone string) *awsv1.CapacityReservation {
	var best *awsv1.CapacityReservation
	now := p.cfg.Clock()
	for i := range class.Status.CapacityReservations {
		r := &class.Status.CapacityReservations[i]
		if r.InstanceType != instanceType || r.AvailabilityZone != zone || !open(r, now) {
			continue
		}
		if best == nil || p.rather(r, best) {
			best = r
		}
	}
	return best
}

// rather says whether to draw on a before b.
func (p *Provider) rather(a, b *awsv1.CapacityReservation) bool {
	mine, other := p.reserved.left(a.ID), p.reserved.left(b.ID)
	if a.Interruptible != b.Interruptible && mine > 0 && other > 0 {
		return !a.Interruptible
	}
	return mine > other
}

// reservationLabels are what the nodes of a reservation carry.
func reservationLabels(id, kind string, interruptible bool) map[string]string {
	return map[string]string{
		awsv1.LabelCapacityReservationID:            id,
		awsv1.LabelCapacityReservationType:          kind,
		awsv1.LabelCapacityReservationInterruptible: strconv.FormatBool(interruptible),
	}
}
