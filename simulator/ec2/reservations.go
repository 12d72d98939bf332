package ec2

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/ids"
	"spokeshave.dev/simulator/market"
	"spokeshave.dev/simulator/operation"
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

// reservations are the capacity reservations that the account can use.
type reservations struct {
	account   ids.Account
	ids       *ids.Source
	market    *market.Market
	instances *instances
	all       []*Reservation
}

// reserve makes or changes capacity reservations, and tells them with their IDs.
func (s *reservations) reserve(all []Reservation) ([]Reservation, error) {
	for i := range all {
		r := &all[i]
		r.Kind, r.Match, r.Owner = cmp.Or(r.Kind, "default"), cmp.Or(r.Match, "open"), cmp.Or(r.Owner, s.account.ID)
		switch {
		case !s.market.Sells(r.Type, r.Zone):
			return nil, fmt.Errorf("reserve %q in %q: no such offering", r.Type, r.Zone)
		case r.Kind != "default" && r.Kind != capacityBlock || r.Match != "open" && r.Match != "targeted" || r.Count < 0:
			return nil, fmt.Errorf("reserve %s in %s: kind %q, match %q, count %d", r.Type, r.Zone, r.Kind, r.Match, r.Count)
		}
		if r.ID == "" {
			r.ID = s.ids.New("cr")
		}
		kept := *r
		at := slices.IndexFunc(s.all, func(o *Reservation) bool { return o.ID == r.ID })
		if at >= 0 {
			s.all[at] = &kept
			continue
		}
		s.all = append(s.all, &kept)
	}
	return all, nil
}

func (s *reservations) find(id string) *Reservation {
	for _, r := range s.all {
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
func (s *reservations) free(r *Reservation, now time.Time) int {
	left := r.Count
	for _, i := range s.instances.order {
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
func (s *reservations) reservable(c *operation.Call, l *launchSpec, id string) error {
	r := s.find(id)
	bought := ""
	if m := l.data.InstanceMarketOptions; m != nil {
		bought = m.MarketType
	}
	switch {
	case r == nil:
		return awserr.New("InvalidCapacityReservationId.NotFound", "The capacity reservation ID '%s' does not exist", id)
	case r.Type != l.kind.Name || r.Zone != l.zone.Name:
		return awserr.New(awserr.InvalidCombination, "The capacity reservation '%s' is for %s in %s.", id, r.Type, r.Zone)
	case bought != r.market():
		return awserr.New(awserr.InvalidCombination, "The market type '%s' does not go with capacity reservation '%s' of type %s.", bought, id, r.Kind)
	case r.state(c.Now) != "active" || s.free(r, c.Now) <= 0:
		return awserr.New("ReservationCapacityExceeded", "The requested reservation does not have sufficient compatible and available capacity for this request.")
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
