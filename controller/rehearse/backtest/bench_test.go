package backtest

import (
	"testing"
	"time"
)

// BenchmarkDay runs 10,000 pods through a day. A week takes seven times as long.
func BenchmarkDay(b *testing.B) {
	for b.Loop() {
		w := workload(10_000, "spot", "on-demand")
		w.End = w.Start.Add(24 * time.Hour)
		r, err := Run(b.Context(), Config{Workload: w, Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(r.USD, "$")
		b.ReportMetric(float64(r.Evictions), "evictions")
	}
}
