package enginetest

import (
	"runtime"
	"runtime/metrics"
	"slices"
	"testing"
	"time"
)

// After measures what a hostile call costs others. Each turn, hostile makes a
// call that must fault and next one that must succeed, while the garbage
// collector runs without rest. It reports
//
//   - next-µs: how long the next call takes, the median;
//   - pause-p99-µs and pause-max-µs: how long the collector stopped everybody,
//     as the upper end of the runtime's own classes.
//
// Wall-clock figures, for people to compare with those of a call that is not
// hostile: nothing fails by them.
func After(b *testing.B, hostile, next func() error) {
	b.Helper()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	before := pauses()
	var took []time.Duration
	for b.Loop() {
		if hostile() == nil {
			b.Fatal("the hostile call did not fault")
		}
		begun := time.Now() //nolint:forbidigo // a figure, which nothing depends on
		if err := next(); err != nil {
			b.Fatalf("the next call: %v", err)
		}
		took = append(took, time.Since(begun)) //nolint:forbidigo // a figure
	}
	close(stop)
	<-done
	p99, most := worst(before, pauses())
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1000, "next-µs")
	b.ReportMetric(p99*1e6, "pause-p99-µs")
	b.ReportMetric(most*1e6, "pause-max-µs")
}

func pauses() *metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64Histogram()
}

// worst are the 99th percentile and the longest of the pauses between two
// readings, in seconds.
func worst(before, after *metrics.Float64Histogram) (p99, most float64) {
	total := uint64(0)
	for i := range after.Counts {
		total += after.Counts[i] - before.Counts[i]
	}
	seen := uint64(0)
	for i := range after.Counts {
		n := after.Counts[i] - before.Counts[i]
		if n == 0 {
			continue
		}
		if seen < total-total/100 {
			p99 = after.Buckets[i+1]
		}
		seen += n
		most = after.Buckets[i+1]
	}
	return p99, most
}
