package handmade

import (
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/test/kit/random"
)

// instanceTypes are the catalogue of every handmade scenario: the families of
// test/kit/random, all of them available, and perhaps some reserved instances.
func instanceTypes(reserved int) model.Catalog {
	c := random.New(7).Catalog("default", 2, 4, 8, 16, 32)
	for i := range c.Types {
		t := &c.Types[i]
		for o := range t.Offerings {
			t.Offerings[o].Available = true
		}
		if reserved > 0 && t.Name == "m6i.x8" {
			t.Offerings = append(t.Offerings, model.Offering{
				Zone: "us-west-2b", ZoneID: "usw2-az2", CapacityType: model.Reserved, Available: true,
				Reservation: &model.Reservation{Free: reserved, ID: "cr-1", Type: "default", Interruptible: "false"},
			})
		}
	}
	return c
}
