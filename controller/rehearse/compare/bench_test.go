package rehearse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/rehearse/backtest"
)

// BenchmarkWeek measures spokeshave backtest on a week with 10,000 pods a day, at the
// prices of the embedded catalogue. More pods arrive by day than by night, in bursts,
// and run from minutes to hours.
func BenchmarkWeek(b *testing.B) { compare(b, 7) }

// BenchmarkDay measures the first day of it.
func BenchmarkDay(b *testing.B) { compare(b, 1) }

func compare(b *testing.B, days int) {
	b.Helper()
	trace := filepath.Join(b.TempDir(), "trace.csv")
	if err := os.WriteFile(trace, []byte(arrivals(days)), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		report, _, err := Compare(b.Context(), &Config{
			Trace: trace, Manifests: []string{"../../../examples/backtest/cluster.yaml"},
			Start: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), Run: backtest.Config{Seed: 1},
		})
		if err != nil {
			b.Fatal(err)
		}
		r := report.Sets[0]
		if r.Pods < days*9_000 {
			b.Fatalf("%d pods in %d days", r.Pods, days)
		}
		b.ReportMetric(float64(r.Pods), "pods")
		b.ReportMetric(r.USD, "$")
		b.ReportMetric(float64(r.Decisions), "decisions")
		b.ReportMetric(float64(r.Evictions), "evictions")
	}
}

// arrivals returns a trace with 10,000 pods a day, in bursts of a few pods of one
// workload.
func arrivals(days int) string {
	rng := rand.New(rand.NewPCG(7, 7))
	cpus, gibs := []string{"250m", "500m", "1", "2"}, []string{"512Mi", "1Gi", "2Gi", "4Gi", "8Gi"}
	var out strings.Builder
	out.WriteString("arrival,lifetime,count,namespace,workload,cpu,memory,job\n")
	for day := range days {
		for n := 0; n < 10_000; {
			at := rng.Float64() * 24
			if rng.Float64() > 0.6-0.4*math.Cos(2*math.Pi*at/24) {
				continue
			}
			count, kind := min(1+rng.IntN(9), 10_000-n), rng.IntN(40)
			n += count
			life := min(600*math.Exp(rng.NormFloat64()), 6*3600) // minutes to hours
			fmt.Fprintf(&out, "%d,%d,%d,team-%d,app-%d,%s,%s,%t\n", day*86_400+int(at*3600), 300+int(2*life), count, kind%5, kind,
				cpus[kind%4], gibs[kind%5], kind%3 == 0)
		}
	}
	return out.String()
}
