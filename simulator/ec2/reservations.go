package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Reservation is a capacity reservation, ordered under /_sim/reservations.
type Reservation struct {
	// ID is made up when empty; an ID that exists is changed.
	ID    string `json:"id"`
	Type  string `json:"type"`
	Zone  string `json:"zone"`
	Count int    `json:"count"`
	// Kind is default or capacity-block, Match open or targeted; the first of
	// each when empty.
	Kind  string `json:"kind,omitempty"`
	Match string `json:"match,omitempty"`
	// Interruptible is one that its owner may take back.
	Interruptible bool              `json:"interruptible,omitempty"`
	Owner         string            `json:"owner,omitempty"`
	Tags          map[string]string `json:"tags,omitempty"`
	// End is when the reservation expires: its instances run on, on demand.
	End *time.Time `json:"end,omitempty"`
}

const (
	capacityBlock = "capacity-block"
	interruptible = "interruptible-capacity-reservation"
)

// Reserve makes or changes capacity reservations, and tells them with their IDs.
func (s *Server) Reserve(all []Reservation) ([]Reservation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range all {
		r := &all[i]
		r.Kind, r.Match, r.Owner = cmp.Or(r.Kind, "default"), cmp.Or(r.Match, "open"), cmp.Or(r.Owner, s.cfg.Account)
		sale := s.state.sales[r.Type]
		switch {
		case sale == nil || !sale.zones[r.Zone]:
			return nil, fmt.Errorf("reserve %q in %q: no such offering", r.Type, r.Zone)
		case r.Kind != "default" && r.Kind != capacityBlock || r.Match != "open" && r.Match != "targeted" || r.Count < 0:
			return nil, fmt.Errorf("reserve %s in %s: kind %q, match %q, count %d", r.Type, r.Zone, r.Kind, r.Match, r.Count)
		}
		if r.ID == "" {
			r.ID = s.newID("cr")
		}
		kept := *r
		at := slices.IndexFunc(s.state.reservations, func(o *Reservation) bool { return o.ID == r.ID })
		if at >= 0 {
			s.state.reservations[at] = &kept
			continue
		}
		s.state.reservations = append(s.state.reservations, &kept)
	}
	return all, nil
}

func (st *state) reservation(id string) *Reservation {
	for _, r := range st.reservations {
		if r.ID == id {
			return r
		}
	}
	return nil
}

func (r *Reservation) state(now time.Time) string {
	if r.End != nil && !now.Before(*r.End) {
		return "expired"
	}
	return "active"
}

// free is how many more instances a reservation takes.
func (s *Server) free(r *Reservation, now time.Time) int {
	left := r.Count
	for _, i := range s.state.order {
		if i.drawn() == r.ID && i.state(now) != terminated() {
			left--
		}
	}
	return left
}

// drawn is the reservation that the instance was launched into, "" for none.
func (i *instance) drawn() string { return i.spec.data.target() }

func (d *templateData) target() string {
	if c := d.CapacityReservation; c != nil && c.Target != nil {
		return c.Target.ID
	}
	return ""
}

// reservable says why a reservation cannot give one more instance.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
func (s *Server) reservable(c *call, l *launchSpec, id string) error {
	r := s.state.reservation(id)
	market := ""
	if m := l.data.InstanceMarketOptions; m != nil {
		market = m.MarketType
	}
	switch {
	case r == nil:
		return failf("InvalidCapacityReservationId.NotFound", "The capacity reservation ID '%s' does not exist", id)
	case r.Type != l.kind.Name || r.Zone != l.zone.name:
		return failf(codeCombination, "The capacity reservation '%s' is for %s in %s.", id, r.Type, r.Zone)
	case market != r.market():
		return failf(codeCombination, "The market type '%s' does not go with capacity reservation '%s' of type %s.", market, id, r.Kind)
	case r.state(c.now) != "active" || s.free(r, c.now) <= 0:
		return failf("ReservationCapacityExceeded", "The requested reservation does not have sufficient compatible and available capacity for this request.")
	default:
		return nil
	}
}

// market is the market type that goes with a reservation.
func (r *Reservation) market() string {
	switch {
	case r.Kind == capacityBlock:
		return capacityBlock
	case r.Interruptible:
		return interruptible
	default:
		return ""
	}
}

type describeReservations struct {
	paged
	Filters []filter `query:"Filter"`
	IDs     []string `query:"CapacityReservationId"`
}

type capacityReservationXML struct {
	ID        string   `xml:"capacityReservationId"`
	Owner     string   `xml:"ownerId"`
	ARN       string   `xml:"capacityReservationArn"`
	Type      string   `xml:"instanceType"`
	Platform  string   `xml:"instancePlatform"`
	Zone      string   `xml:"availabilityZone"`
	ZoneID    string   `xml:"availabilityZoneId"`
	Tenancy   string   `xml:"tenancy"`
	Total     int      `xml:"totalInstanceCount"`
	Available int      `xml:"availableInstanceCount"`
	State     string   `xml:"state"`
	EndDate   string   `xml:"endDate,omitempty"`
	EndType   string   `xml:"endDateType"`
	Match     string   `xml:"instanceMatchCriteria"`
	Kind      string   `xml:"reservationType"`
	Lent      bool     `xml:"interruptible"`
	Tags      []tagXML `xml:"tagSet>item"`
}

// answerReservations lists capacity reservations.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeCapacityReservations.html
func answerReservations(s *Server, c *call, in *describeReservations) (any, error) {
	all := s.state.reservations
	if len(in.IDs) > 0 {
		all = nil
		for _, id := range in.IDs {
			r := s.state.reservation(id)
			if r == nil {
				return nil, failf("InvalidCapacityReservationId.NotFound", "The capacity reservation ID '%s' does not exist", id)
			}
			all = append(all, r)
		}
	}
	found, err := choose(all, in.Filters, tagged[*Reservation]{
		tags: func(r *Reservation) tags { return r.Tags },
		fields: fields[*Reservation]{
			"availability-zone":       is(func(r *Reservation) string { return r.Zone }),
			"instance-match-criteria": is(func(r *Reservation) string { return r.Match }),
			"instance-type":           is(func(r *Reservation) string { return r.Type }),
			"owner-id":                is(func(r *Reservation) string { return r.Owner }),
			"state":                   is(func(r *Reservation) string { return r.state(c.now) }),
		},
	})
	if err != nil {
		return nil, err
	}
	items, next, err := page(found, in.paged, 1, 1000)
	out := struct {
		Items     []capacityReservationXML `xml:"capacityReservationSet>item"`
		NextToken string                   `xml:"nextToken,omitempty"`
	}{NextToken: next}
	for _, r := range items {
		z, _ := s.state.zoneByName(r.Zone)
		x := capacityReservationXML{
			ID: r.ID, Owner: r.Owner, ARN: "arn:aws:ec2:" + s.cfg.Region + ":" + r.Owner + ":capacity-reservation/" + r.ID,
			Type: r.Type, Platform: "Linux/UNIX", Zone: r.Zone, ZoneID: z.id, Tenancy: "default",
			Total: r.Count, Available: max(0, s.free(r, c.now)), State: r.state(c.now), EndType: "unlimited",
			Match: r.Match, Kind: r.Kind, Lent: r.Interruptible, Tags: tags(r.Tags).list(),
		}
		if r.End != nil {
			x.EndDate, x.EndType = r.End.UTC().Format(isoMillis), "limited"
		}
		out.Items = append(out.Items, x)
	}
	return out, err
}
