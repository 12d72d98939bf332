package backtest

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
)

//go:embed page.html
var page string

// chart holds one curve per policy set, as an SVG of 720 by 200.
type chart struct {
	Title, Unit string
	Lines       []curve
	// Top is the label of the upper grid line, Middle that of the middle one.
	Top, Middle string
}

type curve struct{ Name, Class, Points string }

const (
	chartWidth, chartHeight = 720.0, 200.0
	// colours is how many the page has.
	colours = 6
)

// WriteHTML writes a self-contained page with the table and the curves.
func (r *Report) WriteHTML(w io.Writer) error {
	t, err := template.New("page").Parse(page)
	if err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	rows := r.Rows()
	err = t.Execute(w, map[string]any{
		"Report": r, "Head": rows[0], "Rows": rows[1:],
		"Charts": []chart{
			r.chart("Cost", "$/h", func(s *Sample) float64 { return s.HourlyUSD }),
			r.chart("Nodes", "", func(s *Sample) float64 { return float64(s.Nodes) }),
			r.chart("Pods that wait", "", func(s *Sample) float64 { return float64(s.Pending) }),
			r.chart("CPU asked for", "%", func(s *Sample) float64 { return 100 * s.CPU }),
		},
	})
	if err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

func (r *Report) chart(title, unit string, of func(*Sample) float64) chart {
	out := chart{Title: title, Unit: unit}
	top := 0.0
	for _, s := range r.Sets {
		for i := range s.Curve {
			top = max(top, of(&s.Curve[i]))
		}
	}
	top = ceiling(top)
	out.Top, out.Middle = fmt.Sprintf("%.4g", top), fmt.Sprintf("%.4g", top/2)
	length := max(1, r.End.Sub(r.Start).Seconds())
	for i, s := range r.Sets {
		var points strings.Builder
		for k := range s.Curve {
			x := s.Curve[k].Time.Sub(r.Start).Seconds() / length * chartWidth
			y := chartHeight - of(&s.Curve[k])/top*chartHeight
			fmt.Fprintf(&points, "%.1f,%.1f ", x, y)
		}
		out.Lines = append(out.Lines, curve{Name: s.Name, Class: fmt.Sprintf("c%d", i%colours), Points: strings.TrimSpace(points.String())})
	}
	return out
}

// ceiling returns the next number that is 1, 2 or 5 times a power of ten and not below
// v.
func ceiling(v float64) float64 {
	if v <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range []float64{1, 2, 5} {
		if v <= step*power {
			return step * power
		}
	}
	return 10 * power
}
