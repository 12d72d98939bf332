package ec2

import (
	"strconv"

	"spokeshave.dev/simulator/ids"
	"spokeshave.dev/simulator/listing"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/tag"
)

// reader answers what is asked about instances.
type reader struct {
	account      ids.Account
	ids          *ids.Source
	network      *network
	instances    *instances
	reservations *reservations
	placements   *placements
}

type instancesRequest struct {
	listing.Paging
	Filters        []listing.Filter `query:"Filter"`
	IDs            []string         `query:"InstanceId"`
	IncludeManaged bool             `query:"IncludeManagedResources"`
}

// describeInstances lists instances by ID or filter.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstances.html
func (s *reader) describeInstances(c *operation.Call, in *instancesRequest) (any, error) {
	all, err := s.instances.asked(c, in.IDs, in.Paging)
	if err != nil {
		return nil, err
	}
	found, err := listing.Choose(all, in.Filters, listing.By[*instance]{Tags: func(i *instance) tag.Set { return i.tagsSeen(c.Now) }, Fields: s.instanceFields(c)})
	if err != nil {
		return nil, err
	}
	items, next, err := listing.Page(found, in.Paging, 5, 1000)
	out := struct {
		Reservations []*reservationXML `xml:"reservationSet>item"`
		NextToken    string            `xml:"nextToken,omitempty"`
	}{NextToken: next}
	byID := make(map[string]*reservationXML)
	for _, i := range items {
		r := byID[i.reservation]
		if r == nil {
			r = &reservationXML{ID: i.reservation, Owner: s.account.ID}
			byID[i.reservation] = r
			out.Reservations = append(out.Reservations, r)
		}
		r.Instances = append(r.Instances, s.instanceXML(i, c.Now))
	}
	return out, err
}

// instanceFields are the filters of DescribeInstances.
func (s *reader) instanceFields(c *operation.Call) listing.Fields[*instance] {
	return listing.Fields[*instance]{
		"architecture":            listing.Is(func(i *instance) string { return i.spec.image.arch }),
		"availability-zone":       listing.Is(func(i *instance) string { return i.spec.zone.Name }),
		"availability-zone-id":    listing.Is(func(i *instance) string { return i.spec.zone.ID }),
		"capacity-reservation-id": listing.Is(func(i *instance) string { return i.drawn() }),
		"client-token":            listing.Is(func(i *instance) string { return i.token }),
		"image-id":                listing.Is(func(i *instance) string { return i.spec.image.id }),
		"instance-id":             listing.Is(func(i *instance) string { return i.id }),
		"instance-lifecycle":      listing.Is(func(i *instance) string { return i.spotOnly() }),
		"instance-state-code":     listing.Is(func(i *instance) string { return strconv.Itoa(i.state(c.Now).Code) }),
		"instance-state-name":     listing.Is(func(i *instance) string { return i.state(c.Now).Name }),
		"instance-type":           listing.Is(func(i *instance) string { return i.spec.kind.Name }),
		"private-dns-name":        listing.Is(func(i *instance) string { return i.dns }),
		"private-ip-address":      listing.Is(func(i *instance) string { return i.addr.String() }),
		"reservation-id":          listing.Is(func(i *instance) string { return i.reservation }),
		"subnet-id":               listing.Is(func(i *instance) string { return i.spec.subnet.id }),
		"vpc-id":                  listing.Is(func(*instance) string { return s.network.vpcID }),
		"instance.group-id": func(i *instance) []string {
			var out []string
			for _, g := range i.spec.groups {
				out = append(out, g.id)
			}
			return out
		},
	}
}

// spotOnly is the lifecycle as DescribeInstances has it: empty for on-demand.
func (i *instance) spotOnly() string {
	if i.spec.spot {
		return "spot"
	}
	return ""
}
