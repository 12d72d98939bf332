package supply

import (
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

// column holds one label of all types of a catalogue, its values numbered.
type column struct {
	// values[0] stands for the absent label.
	values []string
	byType []int32
}

func newColumn(types []model.InstanceType, key string) *column {
	c := &column{values: []string{""}, byType: make([]int32, len(types))}
	ids, last := map[string]int32{}, int32(0)
	for t := range types {
		v, ok := constraint.TypeLabel(&types[t], key)
		if !ok {
			continue
		}
		if last > 0 && v == c.values[last] { // types of a family follow one another
			c.byType[t] = last
			continue
		}
		id, seen := ids[v]
		if !seen {
			id = int32(len(c.values))
			ids[v] = id
			c.values = append(c.values, v)
		}
		c.byType[t], last = id, id
	}
	return c
}

// matching says for every value of the column whether it meets r.
func (c *column) matching(r *model.Requirement) []bool {
	out := make([]bool, len(c.values))
	for i, v := range c.values {
		out[i] = r.Matches(v, i > 0)
	}
	return out
}

// absent says that no type has the label.
func (c *column) absent() bool { return len(c.values) == 1 }
