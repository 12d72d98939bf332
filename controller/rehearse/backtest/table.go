package backtest

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Rows returns the comparison as a table: a header, then one line per figure.
func (r *Report) Rows() [][]string {
	out := [][]string{{""}}
	for _, s := range r.Sets {
		out[0] = append(out[0], s.Name)
	}
	line := func(name string, of func(*Result) string) {
		row := []string{name}
		for _, s := range r.Sets {
			row = append(row, of(s))
		}
		out = append(out, row)
	}
	number := func(name string, of func(*Result) int) {
		line(name, func(s *Result) string { return fmt.Sprint(of(s)) })
	}
	line("dollars", func(s *Result) string { return fmt.Sprintf("%.2f", s.USD) })
	line("against the first", func(s *Result) string { return against(s.USD, r.Sets[0].USD) })
	for _, kind := range r.kinds() {
		line(kind+" node-hours", func(s *Result) string { return fmt.Sprintf("%.1f", s.NodeHours[kind]) })
	}
	line("pending p50", func(s *Result) string { return seconds(s.PendingP50) })
	line("pending p99", func(s *Result) string { return seconds(s.PendingP99) })
	number("pods", func(s *Result) int { return s.Pods })
	number("still pending", func(s *Result) int { return s.Pending })
	number("evictions", func(s *Result) int { return s.Evictions })
	line("interruptions survived", func(s *Result) string { return fmt.Sprintf("%d of %d", s.Survived, s.Interruptions) })
	number("ceiling hits", func(s *Result) int { return s.CeilingHits })
	number("nodes launched", func(s *Result) int { return s.Launches })
	number("launches sold out", func(s *Result) int { return s.Shortages })
	for _, method := range r.methods() {
		number("nodes let go: "+method, func(s *Result) int { return s.Disrupted[method] })
	}
	return out
}

// against formats a change in percent.
func against(usd, first float64) string {
	if first == 0 {
		return "-"
	}
	return fmt.Sprintf("%+.1f %%", 100*(usd/first-1))
}

func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Second).String()
}

func (r *Report) kinds() []string {
	all := map[string]bool{}
	for _, s := range r.Sets {
		for kind := range s.NodeHours {
			all[kind] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func (r *Report) methods() []string {
	all := map[string]bool{}
	for _, s := range r.Sets {
		for method := range s.Disrupted {
			all[method] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
