package metric

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// provisioned are the metrics of pods since the first decision that planned a place for
// them, under Karpenter's names. The gauges are maxima, where Karpenter has a series for
// each pod. It is safe for concurrent use.
type provisioned struct {
	bound, started prometheus.Histogram
	now            func() time.Time

	mu sync.Mutex
	// pods are those that were planned and have not started, by UID.
	pods map[string]plannedPod
}

// plannedPod is a pod with a planned place.
type plannedPod struct {
	since time.Time
	bound bool
}

func newProvisioned(reg prometheus.Registerer) *provisioned {
	const prefix = "karpenter_pods_provisioning_"
	p := &provisioned{pods: map[string]plannedPod{}, now: time.Now} //nolint:forbidigo // metrics measure real time
	duration := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: prefix + name, Help: help, Buckets: prometheus.ExponentialBuckets(0.25, 2, 16)})
	}
	p.bound = duration("bound_duration_seconds", "Time from the first decision that planned a place for a pod until it was bound.")
	p.started = duration("startup_duration_seconds", "Time from the first decision that planned a place for a pod until it ran.")
	reg.MustRegister(p.bound, p.started,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: prefix + "unbound_time_seconds", Help: "For how long the pod that has waited longest since a place was planned for it has not been bound; 0 when there is none."},
			func() float64 { return p.longest(false) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: prefix + "unstarted_time_seconds", Help: "For how long the pod that has waited longest since a place was planned for it has not run; 0 when there is none."},
			func() float64 { return p.longest(true) }))
	return p
}

// longest returns the longest wait in seconds; with boundToo pods count that are bound.
func (p *provisioned) longest(boundToo bool) float64 { //nolint:revive // which of two gauges
	p.mu.Lock()
	defer p.mu.Unlock()
	most, now := time.Duration(0), p.now()
	for _, each := range p.pods {
		if boundToo || !each.bound {
			most = max(most, now.Sub(each.since))
		}
	}
	return most.Seconds()
}

// observe adds the pods for which the decision planned a place, and forgets those that are
// gone.
func (p *provisioned) observe(s *model.Snapshot, d *decide.Decision) {
	p.mu.Lock()
	defer p.mu.Unlock()
	still := make(map[string]plannedPod, len(p.pods))
	for i := range s.Pods {
		if known, ok := p.pods[s.Pods[i].UID]; ok {
			still[s.Pods[i].UID] = known
		}
	}
	add := func(pods []int32) {
		for _, i := range pods {
			if pod := &s.Pods[i]; pod.UID != "" && pod.Announced == "" && still[pod.UID].since.IsZero() {
				still[pod.UID] = plannedPod{since: s.Time}
			}
		}
	}
	for i := range d.Plan.Nodes {
		add(d.Plan.Nodes[i].Pods)
	}
	for i := range d.Plan.Existing {
		add(d.Plan.Existing[i].Pods)
	}
	p.pods = still
}

// hasBound records that a pod has been bound.
func (p *provisioned) hasBound(uid string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pod, ok := p.pods[uid]; ok && !pod.bound {
		p.bound.Observe(max(0, now.Sub(pod.since)).Seconds())
		pod.bound = true
		p.pods[uid] = pod
	}
}

// hasStarted records that a pod runs.
func (p *provisioned) hasStarted(uid string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pod, ok := p.pods[uid]; ok {
		p.started.Observe(max(0, now.Sub(pod.since)).Seconds())
		delete(p.pods, uid)
	}
}
