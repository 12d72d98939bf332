package availability

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/core/model"
)

// reservedShare is what a reserved instance counts as, of the on-demand price:
// the reservation is paid for already. It is not nothing, so that among reserved
// types the smaller one is chosen.
const reservedShare = 1_000_000

// Apply adds the class's reservations to its catalogue, whose own slices
// stay as they are: one offering for each type and zone, with the room of all.
func (s *Reservations) Apply(class *awsv1.EC2NodeClass, catalog model.Catalog) model.Catalog {
	all := class.Status.CapacityReservations
	if len(all) == 0 {
		return catalog
	}
	now := s.Clock()
	sum := fnv.New64a()
	// A hash never refuses a write.
	_, _ = fmt.Fprintln(sum, catalog.Generation)
	types := slices.Clone(catalog.Types)
	touched := map[int]bool{}
	for i := range all {
		r := &all[i]
		at, found := slices.BinarySearchFunc(types, r.InstanceType, func(t model.InstanceType, name string) int { return cmp.Compare(t.Name, name) })
		if !found {
			continue
		}
		free := 0
		if open(r, now) {
			free = s.places.left(r.ID)
		}
		if !touched[at] {
			touched[at] = true
			types[at].Offerings = slices.Clone(types[at].Offerings)
		}
		if reserve(&types[at], r, free) {
			_, _ = fmt.Fprintln(sum, r.ID, r.ReservationType, r.Interruptible, free)
		}
	}
	if len(touched) == 0 {
		return catalog
	}
	catalog.Types = types
	catalog.Generation = sum.Sum64() >> 11
	return catalog
}

// reserve adds a reservation to the offerings of its type, whose slice may be
// changed. False when no subnet of the class is in its zone.
func reserve(t *model.InstanceType, r *awsv1.CapacityReservation, free int) bool {
	in := model.Reservation{Free: free, ID: r.ID, Type: r.ReservationType, Interruptible: strconv.FormatBool(r.Interruptible)}
	var zoneID string
	var price model.Price
	known := false
	for i := range t.Offerings {
		o := &t.Offerings[i]
		switch {
		case o.Zone != r.AvailabilityZone:
		case o.CapacityType == model.Reserved:
			joined := together(o.Reservation, &in)
			o.Reservation, o.Available = &joined, joined.Free > 0
			return true
		default:
			known, zoneID = true, o.ZoneID
		}
		if o.CapacityType == model.OnDemand {
			price = o.Price
		}
	}
	if !known {
		return false
	}
	t.Offerings = append(t.Offerings, model.Offering{
		Zone: r.AvailabilityZone, ZoneID: zoneID, CapacityType: model.Reserved,
		Price: max(1, (price+reservedShare-1)/reservedShare), List: price, Available: free > 0, Reservation: &in,
	})
	return true
}

// together is two reservations of a type and zone as one.
func together(a, b *model.Reservation) model.Reservation {
	out := *a
	out.Free += b.Free
	out.ID = ""
	if a.Type != b.Type {
		out.Type = ""
	}
	if a.Interruptible != b.Interruptible {
		out.Interruptible = ""
	}
	return out
}
