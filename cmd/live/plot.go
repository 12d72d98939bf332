package main

import (
	"fmt"
	"io"
)

// The plot's size and margins, in pixels.
const (
	plotWidth, plotHeight = 720, 320
	plotMargin            = 44
)

// dashes tell the runs apart: the first is dashed, the second, which is the working
// tree, is not.
func dashes(run, runs int) string {
	if run < runs-1 {
		return ` stroke-dasharray="5 3"`
	}
	return ""
}

// plot draws, for each run, how many pods existed, were bound and ran over time.
func plot(out io.Writer, results []*figures) {
	longest, most := 1, 1
	for _, f := range results {
		longest, most = max(longest, len(f.Line)), max(most, f.Pods)
	}
	x := func(s int) float64 {
		return plotMargin + float64(s)/float64(longest)*(plotWidth-2*plotMargin)
	}
	y := func(n int) float64 {
		return plotHeight - plotMargin - float64(n)/float64(most)*(plotHeight-2*plotMargin)
	}
	_, _ = fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", plotWidth, plotHeight)
	_, _ = fmt.Fprintf(out, `<title>%s, %d pods: pods over time</title><rect width="100%%" height="100%%" fill="#fff"/>`+"\n", results[0].Scenario, most)
	for i := range 5 {
		n, s := most*i/4, longest*i/4
		_, _ = fmt.Fprintf(out, `<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%d</text>`+"\n", plotMargin, y(n), plotWidth-plotMargin, plotMargin-4, y(n)+4, n)
		_, _ = fmt.Fprintf(out, `<text x="%.1f" y="%d" text-anchor="middle">%d s</text>`+"\n", x(s), plotHeight-plotMargin+16, s)
	}
	for i, f := range results {
		for k, state := range []struct {
			name, colour string
			of           func(second) int
		}{
			{"created", "#888", func(s second) int { return s.Created }},
			{"bound", "#06c", func(s second) int { return s.Bound }},
			{"running", "#080", func(s second) int { return s.Running }},
		} {
			_, _ = fmt.Fprintf(out, `<path fill="none" stroke="%s"%s d="M%.1f %.1f`, state.colour, dashes(i, len(results)), x(0), y(0))
			for at, s := range f.Line {
				_, _ = fmt.Fprintf(out, `L%.1f %.1f`, x(at+1), y(state.of(s)))
			}
			_, _ = fmt.Fprintf(out, `"/><text x="%d" y="%d" fill="%s">%s, %s</text>`+"\n", plotMargin+8+i*180, 14+12*k, state.colour, state.name, f.Controller)
		}
	}
	_, _ = fmt.Fprintln(out, "</svg>")
}
