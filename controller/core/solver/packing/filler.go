package packing

import (
	"math"

	"spokeshave.dev/controller/core/solver/lp"
	"spokeshave.dev/controller/core/solver/vec"
)

// filler is one bin being filled. Between begin and finish it holds the filling;
// afterwards only memory to use again.
type filler struct {
	m    *model
	left *remaining
	dual []float64
	bin  *bin
	// room is what is left of the capacity, value what the filling is worth.
	room  vec.Vector
	value float64
	// counts are how many of each item are in, used the items that ever were.
	counts []int32
	used   []int32
	// live are the plain items that may still fit.
	live []int32
}

// begin starts with an empty bin. live are the plain items to fill it with; the
// list may be changed.
func (c *filler) begin(b *bin, live []int32) {
	c.bin, c.room, c.value, c.used, c.live = b, b.capacity, 0, c.used[:0], live
}

// put changes the filling by n of an item.
func (c *filler) put(i, n int32) {
	size := &c.m.items[i].Size
	for r := range c.m.n {
		c.room[r] -= int64(n) * size[r]
	}
	if c.counts[i] == 0 {
		c.used = append(c.used, i)
	}
	c.counts[i] += n
	c.value += float64(c.dual[i] * float64(n))
}

// putAll puts everything that waits, if it fits.
func (c *filler) putAll() bool {
	var sum vec.Vector
	for _, i := range c.live {
		size, n := &c.m.items[i].Size, int64(c.left.left[i])
		for r := range c.m.n {
			sum[r] += n * size[r]
		}
		if sum[0] > c.room[0] {
			return false
		}
	}
	if !vec.Fits(&sum, &c.room, c.m.n) {
		return false
	}
	for _, i := range c.live {
		c.put(i, c.left.left[i])
	}
	return true
}

// most is how many more of an item the filling takes, room and other groups apart.
func (c *filler) most(i int32) int32 {
	n, room := c.left.left[i]-c.counts[i], c.m.perBin[i]
	if room == math.MaxInt32 {
		return n
	}
	for _, j := range c.used {
		if c.m.items[j].Group == c.m.items[i].Group {
			room -= c.counts[j]
		}
	}
	return min(n, room)
}

// done reports whether the filling takes no more of the item, room apart.
func (c *filler) done(i int32) bool {
	return c.most(i) <= 0 || c.m.mixed && c.clashes(i)
}

// clashes reports whether the filling has items that exclude the item.
func (c *filler) clashes(i int32) bool {
	if c.m.items[i].Group < 0 {
		return false
	}
	for _, j := range c.used {
		if c.counts[j] > 0 && c.m.conflicts.between(c.m.items[i].Group, c.m.items[j].Group) {
			return true
		}
	}
	return false
}

// putUpTo puts as many of an item as fit, at most n.
func (c *filler) putUpTo(i, n int32) {
	if n = min(n, c.most(i)); n <= 0 || c.m.mixed && c.clashes(i) {
		return
	}
	if n = vec.MaxCopies(&c.m.items[i].Size, &c.room, n, c.m.n); n > 0 {
		c.put(i, n)
	}
}

// putExclusive puts items of which a bin takes one: those worth most beyond the
// resources they take, at the prices of the relaxed filling, for each item that
// they keep away.
func (c *filler) putExclusive(columns *lp.Columns, price *vec.Reals) {
	for {
		best, most := int32(-1), 0.0
		for _, i := range c.bin.exclusive {
			if c.left.left[i] == 0 || c.clashes(i) || !vec.Fits(&c.m.items[i].Size, &c.room, c.m.n) {
				continue
			}
			gain := columns.Gain(i, c.m.n, price)
			if gain /= float64(c.m.degree[i]); gain > most {
				best, most = i, gain
			}
		}
		if best < 0 {
			return
		}
		c.put(best, 1)
	}
}

// greedyPart is the part of what fits of the best item that is put before the others
// are looked at again; all of it, or a third, is the same within 0.05 %.
const greedyPart = 3

// putGreedily adds the item worth most per share of what is left of each resource,
// a third of what fits at a time.
func (c *filler) putGreedily() {
	for {
		var w vec.Reals
		for r := range c.m.n {
			if c.room[r] > 0 {
				w[r] = 1 / float64(c.room[r])
			}
		}
		best, most, n := int32(-1), 0.0, 0
		for _, i := range c.live {
			d := &c.m.items[i].Size
			if !vec.Fits(d, &c.room, c.m.n) || c.done(i) {
				continue
			}
			c.live[n] = i
			n++
			share := float64(w[0]*float64(d[0])) + float64(w[1]*float64(d[1])) + float64(w[2]*float64(d[2]))
			for r := 3; r < c.m.n; r++ {
				share += float64(w[r] * float64(d[r]))
			}
			if v := c.dual[i] / share; v > most {
				best, most = i, v
			}
		}
		c.live = c.live[:n]
		if best < 0 {
			return
		}
		fit := vec.MaxCopies(&c.m.items[best].Size, &c.room, c.most(best), c.m.n)
		c.put(best, max(1, fit/greedyPart))
	}
}

const (
	// exchanges is how many items of a filling are exchanged: none cost 0.23 %.
	exchanges = 3
	// fewKinds is up to how many different items a filling may have for an
	// exchange to matter: 6 and 24 cost 0.01 % less, and up to 1.4 % more in one mix.
	fewKinds = 12
)

// exchange swaps single items for ones worth more that fit in their place.
func (c *filler) exchange() {
	for range exchanges {
		if len(c.used) > fewKinds {
			return
		}
		from, to, gain := int32(-1), int32(-1), 1e-12
		for _, i := range c.used {
			if c.m.items[i].Group >= 0 || c.counts[i] == 0 {
				continue
			}
			room := c.room
			room.Add(&c.m.items[i].Size, 1)
			for _, j := range c.bin.plain {
				if g := c.dual[j] - c.dual[i]; g > gain && c.m.items[j].Group < 0 && c.counts[j] < c.left.left[j] && vec.Fits(&c.m.items[j].Size, &room, c.m.n) {
					from, to, gain = i, j, g
				}
			}
		}
		if from < 0 {
			return
		}
		c.put(from, -1)
		c.put(to, 1)
	}
}

// finish makes a pattern of the filling, nil when it is worth no more than
// atLeast, and clears it.
func (c *filler) finish(at int32, atLeast float64) (*Pattern, float64) {
	var f *Pattern
	if c.value > atLeast {
		f = &Pattern{Bin: at}
	}
	for _, i := range c.used {
		if f != nil && c.counts[i] > 0 {
			f.Items = append(f.Items, i)
			f.Counts = append(f.Counts, c.counts[i])
		}
		c.counts[i] = 0
	}
	return f, c.value
}
