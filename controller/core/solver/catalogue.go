package solver

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

// catalogue is a model.Catalog in canonical order, with its labels numbered as
// they are asked for.
type catalogue struct {
	src *model.Catalog
	// types are indices into src.Types by name; offerings, by type index, are
	// indices into its Offerings by zone and capacity type.
	types     []int32
	offerings [][]int32
	// keys by type index and offering index.
	keys    [][]int32
	columns map[string]*column
}

// offeringKey is what an offering adds to the labels of its type.
type offeringKey struct {
	zone, zoneID, capacityType string
	// reservation is what of a reservation its nodes' labels say.
	reservation model.Reservation
}

// value is the slot's value of an offering label; ours is false for others.
func (s *offeringKey) value(key string) (value string, present, ours bool) {
	switch key {
	case constraint.LabelZone:
		return s.zone, s.zone != "", true
	case constraint.LabelZoneID:
		return s.zoneID, s.zoneID != "", true
	case constraint.LabelCapacityType:
		return s.capacityType, s.capacityType != "", true
	}
	o := model.Offering{Reservation: &s.reservation}
	value, ours = o.Label(key)
	return value, value != "", ours
}

// offeringKeys numbers the keys of all catalogues.
type offeringKeys struct {
	keys []offeringKey
	ids  map[offeringKey]int32
	last int
}

// id numbers a slot. Types are mostly sold in the same places in the same
// order: after looks first where the last one asked for is followed.
func (t *offeringKeys) id(s offeringKey) int32 {
	if t.last++; t.last >= len(t.keys) {
		t.last = 0
	}
	if t.last < len(t.keys) && t.keys[t.last] == s {
		return int32(t.last)
	}
	id := t.find(s)
	t.last = int(id)
	return id
}

func (t *offeringKeys) find(s offeringKey) int32 {
	id, ok := t.ids[s]
	if !ok {
		id = int32(len(t.keys))
		t.ids[s] = id
		t.keys = append(t.keys, s)
	}
	return id
}

func newCatalogue(src *model.Catalog, keys *offeringKeys) *catalogue {
	c := &catalogue{src: src, columns: map[string]*column{}}
	c.types = ordered(len(src.Types), func(a, b int32) int {
		return cmp.Compare(src.Types[a].Name, src.Types[b].Name)
	})
	c.offerings = make([][]int32, len(src.Types))
	c.keys = make([][]int32, len(src.Types))
	total := 0
	for t := range src.Types {
		total += len(src.Types[t].Offerings)
	}
	room := make([]int32, 2*total)
	for t := range src.Types {
		offerings := src.Types[t].Offerings
		n := len(offerings)
		c.offerings[t], c.keys[t], room = room[:n:n], room[n:2*n:2*n], room[2*n:]
		order(c.offerings[t], func(a, b int32) int { return compareOfferings(&offerings[a], &offerings[b]) })
		for o := range offerings {
			c.keys[t][o] = keys.id(keyOfOffering(&offerings[o]))
		}
	}
	return c
}

func keyOfOffering(o *model.Offering) offeringKey {
	out := offeringKey{zone: o.Zone, zoneID: o.ZoneID, capacityType: string(o.CapacityType)}
	if o.Reservation != nil {
		out.reservation = *o.Reservation
		out.reservation.Free = 0
	}
	return out
}

func (c *catalogue) column(key string) *column {
	col := c.columns[key]
	if col == nil {
		col = newColumn(c.src.Types, key)
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

// ordered are the indices 0 to n-1 in the order given; input that is in order
// already, which is the rule, costs one pass.
func ordered(n int, compare func(a, b int32) int) []int32 {
	out := make([]int32, n)
	order(out, compare)
	return out
}

// order is ordered into a list that is there.
func order(out []int32, compare func(a, b int32) int) {
	for i := range out {
		out[i] = int32(i)
	}
	if !slices.IsSortedFunc(out, compare) {
		slices.SortStableFunc(out, compare)
	}
}
