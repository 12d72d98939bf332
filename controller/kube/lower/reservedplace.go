package lower

import (
	"slices"

	"spokeshave.dev/controller/core/model"
)

// takeReservedPlace subtracts one free instance from a capacity reservation for a claim
// that is not launched yet: the count that the cloud reports does not include it, and
// another decision must not use it again. It copies the catalogue's slices before it
// changes them, because they are shared. A reservation that is no longer offered is
// left alone; the launch then reports it.
func (b *builder) takeReservedPlace(class string, o *model.Option) {
	if o.CapacityType != model.Reserved {
		return
	}
	for at := range b.out.Catalogs {
		if c := &b.out.Catalogs[at]; c.NodeClass == class {
			takePlace(c, o)
		}
	}
}

func takePlace(c *model.Catalog, o *model.Option) {
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
