package solver

import "spokeshave.dev/controller/core/solver/vec"

// resourcePriceLP is the linear program max prices.demand, room.prices <= cost for
// every bin type, in the form that a simplex pivots: it starts at prices of 0, with
// the bin types' slacks as the basis. There are as many columns as resources.
type resourcePriceLP struct {
	n    int
	rows []lpRow
	// column says which resource is in each column, -1 when it is a slack.
	column [vec.MaxDims]int32
	gain   vec.Reals
}

// lpRow is a bin type's constraint.
type lpRow struct {
	a     vec.Reals
	rhs   float64
	basic int32 // a resource, or -1 for a slack
}

// resourcePrices are the most that a demand can be worth, by resource, when no bin type's
// room is worth more than the bin type costs.
func (k *packer) resourcePrices(demand *vec.Reals) (price vec.Reals) {
	m := resourcePriceLP{n: k.n, rows: make([]lpRow, len(k.binTypes)), gain: *demand}
	for s := range k.binTypes {
		t := &k.binTypes[s]
		for r := range k.n {
			m.rows[s].a[r] = float64(float64(t.capacity[r])*k.p.scale[r]) / t.cost
		}
		m.rows[s].rhs, m.rows[s].basic = 1, -1
	}
	for r := range m.column {
		m.column[r] = int32(r)
	}
	for range 8 * k.n {
		enter := m.entering()
		if enter < 0 {
			break
		}
		if leave := m.leaving(enter); leave >= 0 {
			m.pivot(enter, leave)
		} else {
			m.gain[enter] = 0 // no bin type has any of it
		}
	}
	for s := range m.rows {
		if r := m.rows[s].basic; r >= 0 {
			price[r] = max(0, m.rows[s].rhs)
		}
	}
	return price
}

func (m *resourcePriceLP) entering() int {
	enter, most := -1, 1e-9
	for c := range m.n {
		if m.gain[c] > most {
			enter, most = c, m.gain[c]
		}
	}
	return enter
}

func (m *resourcePriceLP) leaving(enter int) int {
	leave, least := -1, 0.0
	for s := range m.rows {
		if a := m.rows[s].a[enter]; a > 1e-12 {
			if t := m.rows[s].rhs / a; leave < 0 || t < least {
				leave, least = s, t
			}
		}
	}
	return leave
}

func (m *resourcePriceLP) pivot(enter, leave int) {
	out := &m.rows[leave]
	scale := 1 / out.a[enter]
	for c := range m.n {
		out.a[c] *= scale
	}
	out.a[enter] = scale
	out.rhs *= scale
	for s := range m.rows {
		f := m.rows[s].a[enter]
		if s == leave || f == 0 {
			continue
		}
		for c := range m.n {
			m.rows[s].a[c] -= float64(f * out.a[c])
		}
		m.rows[s].a[enter] = -float64(f * scale)
		m.rows[s].rhs -= float64(f * out.rhs)
	}
	f := m.gain[enter]
	for c := range m.n {
		m.gain[c] -= float64(f * out.a[c])
	}
	m.gain[enter] = -float64(f * scale)
	out.basic, m.column[enter] = m.column[enter], out.basic
}
