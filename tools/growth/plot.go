package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// point is what a solve of so many pods takes.
type point struct{ pods, ms float64 }

// series are the points of one mix of pods, fewest pods first.
type series struct {
	mix    string
	points []point
}

var (
	named = regexp.MustCompile(`^Benchmark\S*/mix=([^/\s]+)/pods=(\d+)`)
	timed = regexp.MustCompile(`([0-9.e+]+) cpu-ms/op`)
)

// parse reads one line of output, if it is about the growth of a mix.
func parse(line string) (mix string, p point, ok bool) {
	name, time := named.FindStringSubmatch(line), timed.FindStringSubmatch(line)
	if name == nil || time == nil {
		return "", point{}, false
	}
	pods, err := strconv.ParseFloat(name[2], 64)
	if err != nil {
		return "", point{}, false
	}
	ms, err := strconv.ParseFloat(time[1], 64)
	return name[1], point{pods, ms}, err == nil && pods > 0 && ms > 0
}

// add puts a point where it belongs.
func add(all []series, mix string, p point) []series {
	at := slices.IndexFunc(all, func(s series) bool { return s.mix == mix })
	if at < 0 {
		at = len(all)
		all = append(all, series{mix: mix})
	}
	s := &all[at]
	s.points = append(s.points, p)
	slices.SortFunc(s.points, func(a, b point) int { return cmp.Compare(a.pods, b.pods) })
	return all
}

// The plot's size in characters.
const width, height = 64, 20

// draw plots all series, both axes logarithmic, and n log n through the first
// point of the first one; then how each has grown, n log n being 1.
func draw(out io.Writer, all []series) {
	if len(all) == 0 {
		return
	}
	g := newGrid(all)
	first := all[0].points[0]
	for x := range width {
		pods := math.Exp(g.left + g.wide*float64(x)/(width-1))
		g.set(point{pods, first.ms * linearithmic(pods) / linearithmic(first.pods)}, '.')
	}
	for i, s := range all {
		for _, p := range s.points {
			g.set(p, marker(i))
		}
	}
	fmt.Fprintf(out, "\nprocessor time by pods, both logarithmic; dots: n log n\n%9.1f ms\n", math.Exp(g.low+g.high))
	for _, row := range g.cells {
		fmt.Fprintf(out, "          |%s\n", strings.TrimRight(string(row), " "))
	}
	fmt.Fprintf(out, "%9.1f +%s\n%11s%-*.0f%.0f pods\n", math.Exp(g.low), strings.Repeat("-", width), "",
		width-6, math.Exp(g.left), math.Exp(g.left+g.wide))
	for i, s := range all {
		a, b := s.points[0], s.points[len(s.points)-1]
		grown := b.ms / a.ms / (linearithmic(b.pods) / linearithmic(a.pods))
		fmt.Fprintf(out, "%c %-18s %8.1f ms for %.0f, %8.1f ms for %.0f: %.2f of n log n\n",
			marker(i), s.mix, a.ms, a.pods, b.ms, b.pods, grown)
	}
}

func linearithmic(n float64) float64 { return n * math.Log(max(n, 2)) }

func marker(i int) rune { return rune('A' + i%26) }

// grid is the plot's area; edges are logarithms.
type grid struct {
	cells                 [height][]rune
	left, wide, low, high float64
}

func newGrid(all []series) *grid {
	g := &grid{left: math.Inf(1), low: math.Inf(1)}
	right, top := math.Inf(-1), math.Inf(-1)
	for _, s := range all {
		for _, p := range s.points {
			g.left, right = min(g.left, math.Log(p.pods)), max(right, math.Log(p.pods))
			g.low, top = min(g.low, math.Log(p.ms)), max(top, math.Log(p.ms))
		}
	}
	g.wide, g.high = max(right-g.left, 1e-9), max(top-g.low, 1e-9)
	for y := range g.cells {
		g.cells[y] = slices.Repeat([]rune{' '}, width)
	}
	return g
}

// set draws a point that is within the edges; the last one drawn is seen.
func (g *grid) set(p point, r rune) {
	x := int(math.Round((math.Log(p.pods) - g.left) / g.wide * (width - 1)))
	y := height - 1 - int(math.Round((math.Log(p.ms)-g.low)/g.high*(height-1)))
	if x >= 0 && x < width && y >= 0 && y < height {
		g.cells[y][x] = r
	}
}
