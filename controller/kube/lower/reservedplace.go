package lower

import (
	"slices"

	"spokeshave.dev/controller/core/model"
)

// takeReservedPlace takes a place of a reservation for a claim that is not launched yet: the
// cloud's count does not know of it, and another decision must not promise the
// place again. The catalogue's own slices are shared with others and stay as they
// are. What is not sold any more is left to the launch.
func (b *builder) takeReservedPlace(class string, o *model.Option) {
	at, ok := b.catalogAt[class]
	if !ok || o.CapacityType != model.Reserved {
		return
	}
	c := &b.out.Catalogs[at]
	t := slices.IndexFunc(c.Types, func(t model.InstanceType) bool { return t.Name == o.InstanceType })
	if t < 0 {
		return
	}
	of := slices.IndexFunc(c.Types[t].Offerings, func(f model.Offering) bool {
		return f.Zone == o.Zone && f.CapacityType == model.Reserved && f.Reservation != nil
	})
	if of < 0 {
		return
	}
	c.Types = slices.Clone(c.Types)
	c.Types[t].Offerings = slices.Clone(c.Types[t].Offerings)
	f := &c.Types[t].Offerings[of]
	left := *f.Reservation
	left.Free = max(0, left.Free-1)
	f.Reservation = &left
}
