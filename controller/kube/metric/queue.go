package metric

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// queueMetrics are the metrics of pods that wait for a decision, under Karpenter's names.
type queueMetrics struct {
	ignored prometheus.Gauge
	decided prometheus.Histogram
	// startedAt is when the decision under way began, in nanoseconds; 0 is none.
	startedAt atomic.Int64
	// leadingSince is the second in which the loop began or the first decision was
	// made. Another controller may have decided about pods that are older.
	leadingSince time.Time
	// decidedPods are the UIDs of pods about which a decision was made and that have no
	// node yet, or are planned onto one that does not exist yet and may never do so.
	decidedPods map[string]bool
}

// provisioner are the labels by which dashboards for Karpenter select decisions about
// waiting pods.
func provisioner() prometheus.Labels { return prometheus.Labels{"controller": "provisioner"} }

func newQueueMetrics(reg prometheus.Registerer) *queueMetrics {
	q := &queueMetrics{
		ignored: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "karpenter_scheduler_ignored_pods_count", Help: "Pods that no place is looked for: they require what this version has no words for, or volumes that cannot be had.",
		}),
		decided: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "karpenter_pods_scheduling_decision_duration_seconds", Help: "Time from a pod's creation until the first decision about it, be it that there is no place.",
			Buckets: prometheus.ExponentialBuckets(0.25, 2, 16),
		}),
	}
	reg.MustRegister(q.ignored, q.decided, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "karpenter_scheduler_unfinished_work_seconds", Help: "For how long the decision under way has been made; 0 when none is.",
		ConstLabels: provisioner(),
	}, q.unfinished))
	return q
}

// lead records when this controller began to make decisions; the first call counts. The
// time is truncated to seconds, like the creation times of objects.
func (q *queueMetrics) lead(now time.Time) {
	if q.leadingSince.IsZero() {
		q.leadingSince = now.Truncate(time.Second)
	}
}

// begin records that a decision is being made, until end.
func (q *queueMetrics) begin() { q.startedAt.Store(time.Now().UnixNano()) } //nolint:forbidigo // metrics measure real time

func (q *queueMetrics) end() { q.startedAt.Store(0) }

func (q *queueMetrics) unfinished() float64 {
	begun := q.startedAt.Load()
	if begun == 0 {
		return 0
	}
	return time.Since(time.Unix(0, begun)).Seconds() //nolint:forbidigo // as above
}

// observe records a snapshot and its decision, which was made at the snapshot's time.
func (q *queueMetrics) observe(s *model.Snapshot, d *decide.Decision) {
	ignored := 0
	for i := range d.Plan.Unplaced {
		for _, r := range d.Plan.Unplaced[i].Reasons {
			if r.Code == model.Unsupported {
				ignored++
				break
			}
		}
	}
	q.ignored.Set(float64(ignored))
	q.lead(s.Time)
	still := make(map[string]bool, len(q.decidedPods))
	for i := range s.Pods {
		p := &s.Pods[i]
		planned := p.Node >= 0 && s.Nodes[p.Node].State == model.InFlight
		if p.UID == "" || p.Daemon || !planned && (p.Node >= 0 || !s.NeedsPlace(p)) {
			continue
		}
		still[p.UID] = true
		if !planned && !q.decidedPods[p.UID] && !p.Created.Before(q.leadingSince) {
			q.decided.Observe(max(0, s.Time.Add(d.Timing.Total).Sub(p.Created)).Seconds())
		}
	}
	q.decidedPods = still
}
