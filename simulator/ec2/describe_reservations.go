package ec2

import (
	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/listing"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/tag"
)

type reservationsRequest struct {
	listing.Paging
	Filters []listing.Filter `query:"Filter"`
	IDs     []string         `query:"CapacityReservationId"`
}

// capacityReservationXML is a capacity reservation as DescribeCapacityReservations
// answers it.
//
// Size: one field for each element of EC2's answer.
type capacityReservationXML struct {
	ID        string    `xml:"capacityReservationId"`
	Owner     string    `xml:"ownerId"`
	ARN       string    `xml:"capacityReservationArn"`
	Type      string    `xml:"instanceType"`
	Platform  string    `xml:"instancePlatform"`
	Zone      string    `xml:"availabilityZone"`
	ZoneID    string    `xml:"availabilityZoneId"`
	Tenancy   string    `xml:"tenancy"`
	Total     int       `xml:"totalInstanceCount"`
	Available int       `xml:"availableInstanceCount"`
	State     string    `xml:"state"`
	EndDate   string    `xml:"endDate,omitempty"`
	EndType   string    `xml:"endDateType"`
	Match     string    `xml:"instanceMatchCriteria"`
	Kind      string    `xml:"reservationType"`
	Lent      bool      `xml:"interruptible"`
	Tags      []tag.Tag `xml:"tagSet>item"`
}

// describeReservations lists capacity reservations.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeCapacityReservations.html
func (s *reservations) describeReservations(c *operation.Call, in *reservationsRequest) (any, error) {
	all := s.all
	if len(in.IDs) > 0 {
		all = nil
		for _, id := range in.IDs {
			r := s.find(id)
			if r == nil {
				return nil, awserr.New("InvalidCapacityReservationId.NotFound", "The capacity reservation ID '%s' does not exist", id)
			}
			all = append(all, r)
		}
	}
	found, err := listing.Choose(all, in.Filters, listing.By[*Reservation]{
		Tags: func(r *Reservation) tag.Set { return r.Tags },
		Fields: listing.Fields[*Reservation]{
			"availability-zone":       listing.Is(func(r *Reservation) string { return r.Zone }),
			"instance-match-criteria": listing.Is(func(r *Reservation) string { return r.Match }),
			"instance-type":           listing.Is(func(r *Reservation) string { return r.Type }),
			"owner-id":                listing.Is(func(r *Reservation) string { return r.Owner }),
			"state":                   listing.Is(func(r *Reservation) string { return r.state(c.Now) }),
		},
	})
	if err != nil {
		return nil, err
	}
	items, next, err := listing.Page(found, in.Paging, 1, 1000)
	out := struct {
		Items     []capacityReservationXML `xml:"capacityReservationSet>item"`
		NextToken string                   `xml:"nextToken,omitempty"`
	}{NextToken: next}
	for _, r := range items {
		z, _ := s.market.ZoneByName(r.Zone)
		x := capacityReservationXML{
			ID: r.ID, Owner: r.Owner, ARN: "arn:aws:ec2:" + s.account.Region + ":" + r.Owner + ":capacity-reservation/" + r.ID,
			Type: r.Type, Platform: "Linux/UNIX", Zone: r.Zone, ZoneID: z.ID, Tenancy: "default",
			Total: r.Count, Available: max(0, s.free(r, c.Now)), State: r.state(c.Now), EndType: "unlimited",
			Match: r.Match, Kind: r.Kind, Lent: r.Interruptible, Tags: tag.Set(r.Tags).List(),
		}
		if r.End != nil {
			x.EndDate, x.EndType = r.End.UTC().Format(isoMillis), "limited"
		}
		out.Items = append(out.Items, x)
	}
	return out, err
}
