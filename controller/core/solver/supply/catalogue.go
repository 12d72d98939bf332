package supply

import (
	"cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// Catalogue is a model.Catalog in canonical order: types by name, offerings by zone,
// capacity type and price. Labels of its types are numbered when they are asked for.
type Catalogue struct {
	Source *model.Catalog
	// Types are indices into src.Types by name; offerings, by type index, are
	// indices into its Offerings by zone and capacity type.
	Types     []int32
	Offerings [][]int32
	// Keys by type index and offering index.
	Keys    [][]int32
	columns map[string]*column
}

// OfferingKey is what an offering adds to the labels of its instance type.
type OfferingKey struct {
	Zone, zoneID, CapacityType string
	// reservation is what of a reservation its nodes' labels say.
	reservation model.Reservation
}

// Value is the value of a label that offerings give their nodes; ours is false for
// other labels.
func (s *OfferingKey) Value(key string) (value string, present, ours bool) {
	switch key {
	case constraint.LabelZone:
		return s.Zone, s.Zone != "", true
	case constraint.LabelZoneID:
		return s.zoneID, s.zoneID != "", true
	case constraint.LabelCapacityType:
		return s.CapacityType, s.CapacityType != "", true
	}
	o := model.Offering{Reservation: &s.reservation}
	value, ours = o.Label(key)
	return value, value != "", ours
}

// OfferingKeys numbers the keys of all catalogues.
type OfferingKeys struct {
	Keys []OfferingKey
	ids  map[OfferingKey]int32
	last int
}

// id numbers a key. Types are mostly sold in the same places in the same
// order: after looks first where the last one asked for is followed.
func (t *OfferingKeys) id(s OfferingKey) int32 {
	if t.last++; t.last >= len(t.Keys) {
		t.last = 0
	}
	if t.last < len(t.Keys) && t.Keys[t.last] == s {
		return int32(t.last)
	}
	id := t.find(s)
	t.last = int(id)
	return id
}

func (t *OfferingKeys) find(s OfferingKey) int32 {
	id, ok := t.ids[s]
	if !ok {
		id = int32(len(t.Keys))
		t.ids[s] = id
		t.Keys = append(t.Keys, s)
	}
	return id
}

func newCatalogue(src *model.Catalog, keys *OfferingKeys) *Catalogue {
	c := &Catalogue{Source: src, columns: map[string]*column{}}
	c.Types = vec.Ordered(len(src.Types), func(a, b int32) int {
		return cmp.Compare(src.Types[a].Name, src.Types[b].Name)
	})
	c.Offerings = make([][]int32, len(src.Types))
	c.Keys = make([][]int32, len(src.Types))
	total := 0
	for t := range src.Types {
		total += len(src.Types[t].Offerings)
	}
	room := make([]int32, 2*total)
	for t := range src.Types {
		offerings := src.Types[t].Offerings
		n := len(offerings)
		c.Offerings[t], c.Keys[t], room = room[:n:n], room[n:2*n:2*n], room[2*n:]
		vec.Order(c.Offerings[t], func(a, b int32) int { return compareOfferings(&offerings[a], &offerings[b]) })
		for o := range offerings {
			c.Keys[t][o] = keys.id(keyOfOffering(&offerings[o]))
		}
	}
	return c
}

func keyOfOffering(o *model.Offering) OfferingKey {
	out := OfferingKey{Zone: o.Zone, zoneID: o.ZoneID, CapacityType: string(o.CapacityType)}
	if o.Reservation != nil {
		out.reservation = *o.Reservation
		out.reservation.Free = 0
	}
	return out
}

func (c *Catalogue) column(key string) *column {
	col := c.columns[key]
	if col == nil {
		col = newColumn(c.Source.Types, key)
		c.columns[key] = col
	}
	return col
}

// compareOfferings orders by zone, capacity type and price.
func compareOfferings(x, y *model.Offering) int {
	if o := cmp.Compare(x.Zone, y.Zone); o != 0 {
		return o
	}
	if o := cmp.Compare(x.CapacityType, y.CapacityType); o != 0 {
		return o
	}
	return cmp.Compare(x.Price, y.Price)
}
