package web

import (
	"fmt"
	"math"
	"strings"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// width and height are the size of the chart's drawing area in units of the SVG, which
// is scaled to the page.
const (
	width  = 600
	height = 160
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
