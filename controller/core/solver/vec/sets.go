package vec

// Sets numbers sets by their contents. The zero value has none.
type Sets struct {
	// All are the sets, by number. They must not change.
	All []Bits
	ids map[string]int32
}

// ID returns the number of a set. It keeps a set that is new, which must not change
// from then on.
func (t *Sets) ID(set Bits) int32 {
	key := set.Key()
	id, ok := t.ids[key]
	if !ok {
		if t.ids == nil {
			t.ids = map[string]int32{}
		}
		id = int32(len(t.All))
		t.ids[key] = id
		t.All = append(t.All, set)
	}
	return id
}
