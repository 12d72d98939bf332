package catalog

import (
	"encoding/binary"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// Generation returns a hash of the catalogue's types. Equal contents give equal hashes
// in every process. A float64 can represent it exactly.
func Generation(c *model.Catalog) uint64 {
	sum := fnv.New64a()
	var buf []byte
	text := func(s string) { buf = append(append(buf, s...), 0) }
	number := func(n int64) { buf = binary.LittleEndian.AppendUint64(buf, uint64(n)) }
	for i := range c.Types {
		t := &c.Types[i]
		text(t.Name)
		text(t.Arch)
		text(t.OS)
		number(int64(len(t.Labels)))
		for _, key := range slices.Sorted(maps.Keys(t.Labels)) {
			text(key)
			text(t.Labels[key])
		}
		for _, r := range []model.Resources{t.Capacity, t.Allocatable} {
			number(int64(len(r)))
			for _, name := range slices.Sorted(maps.Keys(r)) {
				text(name)
				number(r[name])
			}
		}
		number(int64(len(t.Offerings)))
		for j := range t.Offerings {
			o := &t.Offerings[j]
			text(o.Zone)
			text(o.ZoneID)
			text(string(o.CapacityType))
			number(int64(o.Price))
			number(int64(math.Float64bits(o.Interruption)))
			if o.Available {
				buf = append(buf, 1)
			} else {
				buf = append(buf, 0)
			}
		}
		if _, err := sum.Write(buf); err != nil {
			return 0 // a hash does not fail
		}
		buf = buf[:0]
	}
	return sum.Sum64() >> 11
}
