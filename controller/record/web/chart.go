package web

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
)

// width and height are the size of a chart's drawing area in units of the SVG, which
// is scaled to the page. steps is how many points of a curve are drawn at most.
const (
	width  = 600
	height = 160
	steps  = 288
)

// chart holds the curves as points of SVG polylines.
type chart struct {
	// Spend is a line; Load is the area under another.
	Spend, Load string
	// Cap is the vertical position of the cluster's lowest hard cap per hour, "" when
	// there is none or it lies outside the chart.
	Cap, CapAt    string
	From, To, Top string
}

func plot(curve []Point, caps []decide.CapStatus) chart {
	if len(curve) < 2 {
		return chart{}
	}
	curve = thinned(curve)
	first, last := curve[0].Time, curve[len(curve)-1].Time
	most := model.Price(10_000) // a cent: the curve of an empty cluster lies flat
	for _, p := range curve {
		most = max(most, p.Spend)
	}
	limit := clusterCap(caps)
	if limit > 0 && limit <= 2*most.USD() {
		most = max(most, model.PriceOf(limit))
	} else {
		limit = 0
	}
	top := round(1.05 * most.USD())
	y := func(usd float64) float64 { return height * (1 - usd/top) }
	var spent, asked strings.Builder
	fmt.Fprintf(&asked, "0,%d ", height)
	for _, p := range curve {
		x := width * float64(p.Time.Sub(first)) / float64(last.Sub(first))
		fmt.Fprintf(&spent, "%.1f,%.1f ", x, y(p.Spend.USD()))
		fmt.Fprintf(&asked, "%.1f,%.1f ", x, y(p.Load.USD()))
	}
	fmt.Fprintf(&asked, "%d,%d", width, height)
	out := chart{Spend: strings.TrimSpace(spent.String()), Load: asked.String(), From: first.Format("15:04"), To: last.Format("15:04"), Top: fmt.Sprintf("%.4g", top)}
	if limit > 0 {
		out.Cap, out.CapAt = fmt.Sprintf("%.2f", limit), fmt.Sprintf("%.1f", y(limit))
	}
	return out
}

// thinned returns at most steps points of a curve: of each interval the one with the
// highest spend, and the last point.
func thinned(curve []Point) []Point {
	if len(curve) <= steps {
		return curve
	}
	out := make([]Point, 0, steps+1)
	for i := range steps {
		part := curve[i*len(curve)/steps : (i+1)*len(curve)/steps]
		best := part[0]
		for _, p := range part {
			if p.Spend > best.Spend {
				best = p
			}
		}
		out = append(out, best)
	}
	if last := curve[len(curve)-1]; out[len(out)-1] != last {
		out = append(out, last)
	}
	return out
}

// clusterCap returns the cluster's lowest hard cap per hour, in USD; 0 for none.
func clusterCap(caps []decide.CapStatus) float64 {
	limit := 0.0
	for i := range caps {
		c := &caps[i]
		if c.Scope == "cluster" && c.Period == decide.PerHour && !c.Soft && (limit == 0 || c.Limit < limit) {
			limit = c.Limit
		}
	}
	return limit
}

// round returns the next number that is 1, 2, 4, 5 or 8 times a power of ten and not
// below v.
func round(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range []float64{1, 2, 4, 5, 8} {
		if v <= step*power {
			return step * power
		}
	}
	return 10 * power
}

// curve writes the chart of the last day.
func (m *markup) curve(c *chart) {
	if c.Spend == "" {
		m.text("The curve begins with the second minute.")
		return
	}
	m.put("<figure><div class=\"plot\"><span class=\"top\">%s $/h</span><span class=\"zero\">0</span>\n", c.Top)
	m.put("<svg viewBox=\"0 0 600 160\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Spend and what pods request, from %s to %s UTC, at most %s $/h\">\n", c.From, c.To, c.Top)
	m.put("<path class=\"grid\" d=\"M0 40H600M0 80H600M0 120H600\"></path><polygon class=\"load\" points=\"%s\"></polygon><polyline class=\"spend\" points=\"%s\"></polyline>", c.Load, c.Spend)
	if c.Cap != "" {
		m.put("<path class=\"cap\" d=\"M0 %sH600\"></path>", c.CapAt)
	}
	m.put("</svg></div>\n<figcaption><span>%s</span><span class=\"keys\"><span class=\"key spend\">spend</span> <span class=\"key load\">requested by pods</span>", c.From)
	if c.Cap != "" {
		m.put(" <span class=\"key cap\">cap %s $/h</span>", c.Cap)
	}
	m.put("</span><span>%s UTC</span></figcaption></figure>\n", c.To)
}

// day is what something has cost on a day, or in the time that begins with it.
type day struct {
	from   time.Time
	amount spend.Amount
}

// dayByDay writes what the rows that match have cost in the last days.
func (v *view) dayByDay(label string, match func(*spend.Row) bool) {
	if v.unread != nil {
		v.section("days-title", "Day by day", func() { v.text("The history cannot be read now: %s", v.unread.Error()) })
		return
	}
	var out []day
	for i := range v.periods {
		d := day{from: v.periods[i].From}
		for r := range v.periods[i].Rows {
			if row := &v.periods[i].Rows[r]; match(row) {
				d.amount.Plus(row.Amount)
			}
		}
		out = append(out, d)
	}
	if slices.ContainsFunc(out, func(d day) bool { return d.amount != (spend.Amount{}) }) {
		v.section("days-title", "Day by day", func() { v.days(label, out) })
	}
}

// days writes what was spent day by day as bars. The figures are in a table that screen
// readers read and others open.
func (m *markup) days(label string, all []day) {
	most := 0.01
	for i := range all {
		most = max(most, all[i].amount.USD())
	}
	top := round(most)
	var bars strings.Builder
	for i := range all {
		fmt.Fprintf(&bars, "M%.1f 160v-%.1fh%.1fv%.1fz", width*(float64(i)+0.1)/float64(len(all)), height*all[i].amount.USD()/top, width*0.8/float64(len(all)), height*all[i].amount.USD()/top)
	}
	m.put("<figure><div class=\"plot\"><span class=\"top\">%s $</span>\n<svg viewBox=\"0 0 600 160\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><path class=\"days\" d=\"%s\"></path></svg></div>\n", dollars(top), bars.String())
	m.put("<figcaption><span>%s</span><span>%s</span></figcaption></figure>\n", all[0].from.Format(time.DateOnly), all[len(all)-1].from.Format(time.DateOnly))
	m.put("<details id=\"days\"><summary>Day by day</summary>")
	m.table(label, []string{"Day", "#$"}, func() {
		for i := range all {
			m.row(func() { m.put("%s", all[i].from.Format(time.DateOnly)) })
			m.cells(1, dollars(all[i].amount.USD()))
			m.end()
		}
	})
	m.put("</details>\n")
}
