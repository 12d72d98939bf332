package wasm

import (
	"maps"
	"runtime"
	"slices"
	"sort"
	"strings"
	"testing"

	"spokeshave.dev/controller/policy/wasm/meter"
)

// heaviest are modules that take as long to compile as their shape allows: the
// largest of each that are accepted.
var heaviest = map[string]func(n int) guest{
	"blocks": func(n int) guest { return repeat(n, "\x02\x40\x0b") },
	"ifs":    func(n int) guest { return repeat(n, "\x23\x00\x04\x40\x0b") },
	"loops":  func(n int) guest { return repeat(n, "\x03\x40\x0b") },
	"nested": func(n int) guest {
		return guest{more: [][]byte{cat(strings.Repeat("\x03\x40", n), strings.Repeat("\x0b", n))}}
	},
	"deep calls": func(n int) guest { return repeat(n, string(callTo(guest{}.first()))) },
	"indirect calls": func(n int) guest {
		g := repeat(n, "\x41\x00\x11\x03\x00")
		g.table = []byte("\x70\x00\x01")
		return g
	},
	"grows": func(n int) guest { return repeat(n, "\x41\x00\x40\x00\x1a") },
	"fills": func(n int) guest { return repeat(n, "\x41\x00\x41\x00\x41\x00\xfc\x0b\x00") },
	"operands": func(n int) guest {
		return guest{more: [][]byte{cat(strings.Repeat("\x23\x00", n), strings.Repeat("\x6a", n-1), drop)}}
	},
	"straight": func(n int) guest { return repeat(n, "\x23\x00\x41\x01\x6a\x24\x00") },
	"spills": func(n int) guest {
		call := string(callTo(guest{}.first()))
		return guest{more: [][]byte{cat(strings.Repeat("\x23\x00\x41\x01\x6a"+call+"\x24\x00", n))}}
	},
	"many": func(n int) guest {
		return guest{more: slices.Repeat([][]byte{cat(strings.Repeat("\x02\x40\x0b", 1500))}, n)}
	},
	"slots": func(n int) guest {
		return guest{more: [][]byte{cat(strings.Repeat("\x23\x00", 400), strings.Repeat("\x02\x40\x0b", n), strings.Repeat(drop, 400))}}
	},
	"slots across ifs": func(n int) guest {
		return guest{more: [][]byte{cat(strings.Repeat("\x23\x00", 400), strings.Repeat("\x23\x00\x04\x40\x0b", n), strings.Repeat(drop, 400))}}
	},
	"slots across calls": func(n int) guest {
		return guest{more: [][]byte{cat(strings.Repeat("\x23\x00", 400), strings.Repeat(string(callTo(guest{}.first())), n), strings.Repeat(drop, 400))}}
	},
	"slots across loops": func(n int) guest {
		return guest{more: [][]byte{cat(strings.Repeat("\x23\x00", 200), strings.Repeat("\x03\x40\x0b", n), strings.Repeat(drop, 200))}}
	},
	"locals": func(n int) guest { // all of them change in every branch
		set := ""
		for i := range 100 {
			set += "\x20" + string(uleb(nil, 2+i)) + "\x41\x01\x6a\x21" + string(uleb(nil, 2+i))
		}
		return guest{locals: 100, rank: cat(strings.Repeat("\x23\x00\x04\x40"+set+"\x0b", n), i32(0))}
	},
	"locals in loops": func(n int) guest {
		set := ""
		for i := range 100 {
			set += "\x20" + string(uleb(nil, 2+i)) + "\x41\x01\x6a\x21" + string(uleb(nil, 2+i))
		}
		return guest{locals: 100, rank: cat(strings.Repeat("\x03\x40"+set, n), strings.Repeat("\x23\x00\x0d\x00\x0b", n), i32(0))}
	},
	"targets": func(n int) guest {
		return guest{more: [][]byte{cat("\x02\x40\x23\x00\x0e", uleb(nil, n), make([]byte, n+1), "\x0b")}}
	},
	"functions": func(n int) guest { return guest{more: slices.Repeat([][]byte{{}}, n)} },
	"many calls": func(n int) guest {
		g := repeat(800, "\x41\x00\x11\x03\x00")
		g.table, g.more = []byte("\x70\x00\x01"), slices.Repeat(g.more, n)
		return g
	},
	"many fills": func(n int) guest {
		g := repeat(400, "\x41\x00\x41\x00\x41\x00\xfc\x0b\x00")
		g.more = slices.Repeat(g.more, n)
		return g
	},
}

// largestOf returns the largest module of a shape that is accepted, and its measure.
func largestOf(shape func(n int) guest) (module []byte, n int) {
	refused := func(n int) bool {
		_, err := meter.Rewrite(shape(n+1).bytes(), meter.Defaults())
		return err != nil
	}
	most := 1
	for most < 1<<18 && !refused(most) {
		most *= 2
	}
	n = sort.Search(most, refused)
	return shape(n).bytes(), n
}

func repeat(n int, text string) guest { return guest{more: [][]byte{cat(strings.Repeat(text, n))}} }

// BenchmarkHeaviest compiles the largest module of each shape: a unit of weight
// is to stand for about a microsecond, whatever the shape.
func BenchmarkHeaviest(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(heaviest)) {
		b.Run(name, func(b *testing.B) {
			module, n := largestOf(heaviest[name])
			m, err := meter.Rewrite(module, meter.Defaults())
			if err != nil {
				b.Fatal(err)
			}
			var before, after runtime.MemStats
			for b.Loop() {
				runtime.ReadMemStats(&before)
				p, err := (&Engine{}).Compile(b.Context(), source(module))
				if err != nil {
					b.Fatal(err)
				}
				runtime.ReadMemStats(&after)
				_ = p.Close(b.Context())
			}
			b.ReportMetric(float64(n), "size")
			b.ReportMetric(float64(m.Total), "weight")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(m.Total), "µs/weight")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/(1<<20), "MB")
		})
	}
}
