package solver

// market is the linear program max prices.demand, room.prices <= cost for
// every site, in the form that a simplex pivots: it starts at prices of 0, with
// the sites' slacks as the basis. There are as many columns as resources.
type market struct {
	n     int
	lines []line
	// column says which resource is in each column, -1 when it is a slack.
	column [maxDims]int32
	gain   [maxDims]float64
}

// line is a site's constraint.
type line struct {
	a     [maxDims]float64
	right float64
	basic int32 // a resource, or -1 for a slack
}

// prices are the most that a demand can be worth, by resource, when no site's
// room is worth more than the site costs.
func (k *packer) prices(demand *[maxDims]float64) (price [maxDims]float64) {
	m := market{n: k.n, lines: make([]line, len(k.sites)), gain: *demand}
	for s := range k.sites {
		t := &k.sites[s]
		for r := range k.n {
			m.lines[s].a[r] = float64(float64(t.room[r])*k.p.scale[r]) / t.cost
		}
		m.lines[s].right, m.lines[s].basic = 1, -1
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
			m.gain[enter] = 0 // no site has any of it
		}
	}
	for s := range m.lines {
		if r := m.lines[s].basic; r >= 0 {
			price[r] = max(0, m.lines[s].right)
		}
	}
	return price
}

func (m *market) entering() int {
	enter, most := -1, 1e-9
	for c := range m.n {
		if m.gain[c] > most {
			enter, most = c, m.gain[c]
		}
	}
	return enter
}

func (m *market) leaving(enter int) int {
	leave, least := -1, 0.0
	for s := range m.lines {
		if a := m.lines[s].a[enter]; a > 1e-12 {
			if t := m.lines[s].right / a; leave < 0 || t < least {
				leave, least = s, t
			}
		}
	}
	return leave
}

func (m *market) pivot(enter, leave int) {
	out := &m.lines[leave]
	scale := 1 / out.a[enter]
	for c := range m.n {
		out.a[c] *= scale
	}
	out.a[enter] = scale
	out.right *= scale
	for s := range m.lines {
		f := m.lines[s].a[enter]
		if s == leave || f == 0 {
			continue
		}
		for c := range m.n {
			m.lines[s].a[c] -= float64(f * out.a[c])
		}
		m.lines[s].a[enter] = -float64(f * scale)
		m.lines[s].right -= float64(f * out.right)
	}
	f := m.gain[enter]
	for c := range m.n {
		m.gain[c] -= float64(f * out.a[c])
	}
	m.gain[enter] = -float64(f * scale)
	out.basic, m.column[enter] = m.column[enter], out.basic
}
