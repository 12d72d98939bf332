// Package metric holds the controller's Prometheus metrics. Those of [Reconcilers] are
// counted by several reconcilers, those of [Decisions] are computed from every snapshot
// and decision, and those of [PodCounts] are computed when metrics are read. Metrics
// that Karpenter has too have Karpenter's names, so that dashboards and alerts for
// Karpenter work unchanged.
//
// Metrics that only one package counts are declared in that package.
package metric

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// Labels of the metrics, as in Karpenter.
const (
	nodePool     = "nodepool"
	capacityType = "capacity_type"
	zoneLabel    = "zone"
	reasonLabel  = "reason"
	codeLabel    = "code"
)

// minutes are buckets from a second to four hours, days from five minutes to a
// month.
func minutes() []float64 {
	return []float64{1, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400}
}

func days() []float64 {
	const hour, day = 3600, 86400
	return []float64{300, 900, 1800, hour, 2 * hour, 4 * hour, 8 * hour, day, 2 * day, 5 * day, 10 * day, 20 * day, 30 * day}
}

// Reconcilers are the metrics that several reconcilers count. A nil *Reconcilers
// records nothing.
type Reconcilers struct {
	disrupted, terminated                       *prometheus.CounterVec
	nodesCreated, nodesTerminated, nodesDrained *prometheus.CounterVec
	evictions, podsDrained                      *prometheus.CounterVec

	claimTermination, instanceTermination *prometheus.HistogramVec
	nodeLifetime                          *prometheus.HistogramVec
	nodeTermination                       *prometheus.SummaryVec

	calls calls
	// others are metrics of other packages that have a series for every NodePool.
	others []seriesByLabel
}

// NewReconcilers registers the metrics, or finds them registered already.
func NewReconcilers(into prometheus.Registerer) (*Reconcilers, error) {
	s := &Reconcilers{}
	r := registrar{into: into}
	s.disrupted = counter(&r, "karpenter_nodeclaims_disrupted_total", "NodeClaims whose deletion was decided here, by reason.", nodePool, capacityType, reasonLabel)
	s.terminated = counter(&r, "karpenter_nodeclaims_terminated_total", "NodeClaims whose instance has ended.", nodePool, capacityType, zoneLabel)
	s.nodesCreated = counter(&r, "karpenter_nodes_created_total", "Nodes that have registered.", nodePool, zoneLabel)
	s.nodesTerminated = counter(&r, "karpenter_nodes_terminated_total", "Nodes that have been drained and ended.", nodePool, zoneLabel)
	s.nodesDrained = counter(&r, "karpenter_nodes_drained_total", "Nodes whose pods have left, or were out of time.", nodePool)
	s.evictions = counter(&r, "karpenter_pods_eviction_requests_total", "Requests to the Eviction API, by the code of the answer.", codeLabel)
	s.podsDrained = counter(&r, "karpenter_pods_drained_total", "Pods that were evicted from nodes on their way out, or deleted for lack of time, by the reason that the node goes for.", reasonLabel)
	s.claimTermination = duration(&r, "karpenter_nodeclaims_termination_duration_seconds", "Time from a NodeClaim's deletion until it was gone.", minutes())
	s.instanceTermination = duration(&r, "karpenter_nodeclaims_instance_termination_duration_seconds", "Time from the request to end an instance until it had ended.", minutes())
	s.nodeTermination = register(&r, prometheus.NewSummaryVec(prometheus.SummaryOpts{
		Name: "karpenter_nodes_termination_duration_seconds", Help: "Time from a node's deletion until it was gone, of the last ten minutes.", Objectives: quantiles(),
	}, []string{nodePool}))
	s.nodeLifetime = duration(&r, "karpenter_nodes_lifetime_duration_seconds", "Age that nodes had when they were gone.", days())
	s.calls = newCalls(&r)
	if err := errors.Join(r.errs...); err != nil {
		return nil, fmt.Errorf("register metrics of the reconcilers: %w", err)
	}
	return s, nil
}

// byPool returns the metrics with a series for every NodePool.
func (s *Reconcilers) byPool() []seriesByLabel {
	if s == nil {
		return nil
	}
	return append([]seriesByLabel{
		s.disrupted, s.terminated, s.nodesCreated, s.nodesTerminated, s.nodesDrained,
		s.claimTermination, s.instanceTermination, s.nodeTermination, s.nodeLifetime,
	}, s.others...)
}

// LeaveWithPool has the series of vectors with the label nodepool deleted when their
// NodePool is gone. It is called before the controllers start.
func (s *Reconcilers) LeaveWithPool(all ...*prometheus.CounterVec) {
	for _, each := range all {
		s.leaveWithPool(nodePool, each)
	}
}

// leaveWithPool does the same for vectors whose label with the NodePool has another name.
func (s *Reconcilers) leaveWithPool(label string, all ...seriesByLabel) {
	if s == nil {
		return
	}
	for _, each := range all {
		s.others = append(s.others, relabelled{each, label})
	}
}

// relabelled is a vector whose label with the NodePool is called label.
type relabelled struct {
	seriesByLabel
	label string
}

// DeletePartialMatch implements seriesByLabel, for labels that name a NodePool.
func (r relabelled) DeletePartialMatch(labels prometheus.Labels) int {
	return r.seriesByLabel.DeletePartialMatch(prometheus.Labels{r.label: labels[nodePool]})
}

// Subject is the NodeClaim that a metric counts.
type Subject struct {
	NodePool, CapacityType, Zone string
}

// Disrupted counts a NodeClaim that was deleted for the reason. The reason may be in
// CamelCase or snake_case; the label is in snake_case.
func (s *Reconcilers) Disrupted(of Subject, reason string) {
	if s != nil {
		s.disrupted.WithLabelValues(of.NodePool, of.CapacityType, Snake(reason)).Inc()
	}
}

// Terminated counts a NodeClaim whose instance is gone. took is the time since the
// claim was deleted, instance the time since the instance's termination was requested
// (0 if it was not).
func (s *Reconcilers) Terminated(of Subject, took, instance time.Duration) {
	if s == nil {
		return
	}
	s.terminated.WithLabelValues(of.NodePool, of.CapacityType, of.Zone).Inc()
	s.claimTermination.WithLabelValues(of.NodePool).Observe(took.Seconds())
	if instance > 0 {
		s.instanceTermination.WithLabelValues(of.NodePool).Observe(instance.Seconds())
	}
}

// NodeCreated counts a node that has registered.
func (s *Reconcilers) NodeCreated(of Subject) {
	if s != nil {
		s.nodesCreated.WithLabelValues(of.NodePool, of.Zone).Inc()
	}
}

// NodeDrained counts a node whose pods have left.
func (s *Reconcilers) NodeDrained(of Subject) {
	if s != nil {
		s.nodesDrained.WithLabelValues(of.NodePool).Inc()
	}
}

// NodeTerminated counts a node that has been removed. took is the time since it was
// deleted, age its age.
func (s *Reconcilers) NodeTerminated(of Subject, took, age time.Duration) {
	if s != nil {
		s.nodesTerminated.WithLabelValues(of.NodePool, of.Zone).Inc()
		s.nodeTermination.WithLabelValues(of.NodePool).Observe(took.Seconds())
		s.nodeLifetime.WithLabelValues(of.NodePool).Observe(age.Seconds())
	}
}

// Eviction counts a request to the Eviction API by the HTTP code of its answer.
func (s *Reconcilers) Eviction(code int) {
	if s != nil {
		s.evictions.WithLabelValues(strconv.Itoa(code)).Inc()
	}
}

// PodDrained counts a pod that was evicted or deleted. The reason is that of the node's
// disruption, "" when the controller did not decide it.
func (s *Reconcilers) PodDrained(reason string) {
	if s != nil {
		s.podsDrained.WithLabelValues(Snake(reason)).Inc()
	}
}

// SubjectOf returns the subject from labels that claims and nodes both have.
func SubjectOf(labels map[string]string) Subject {
	return Subject{NodePool: labels[karpv1.LabelNodePool], CapacityType: labels[karpv1.LabelCapacityType], Zone: labels[corev1.LabelTopologyZone]}
}

// Snake turns CamelCase into snake_case; words in snake_case stay as they are.
func Snake(s string) string {
	var out strings.Builder
	lower := false
	for _, r := range s {
		if unicode.IsUpper(r) && lower {
			out.WriteByte('_')
		}
		lower = unicode.IsLower(r)
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// registrar registers collectors and collects the errors.
type registrar struct {
	into prometheus.Registerer
	errs []error
}

// counter registers a vector of counters, or finds the one of the same name.
func counter(r *registrar, name, help string, labels ...string) *prometheus.CounterVec {
	return register(r, prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels))
}

// duration registers histograms of seconds by NodePool.
func duration(r *registrar, name, help string, buckets []float64) *prometheus.HistogramVec {
	return register(r, prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{nodePool}))
}

// Build registers the metric whose labels describe the running build.
func Build(into prometheus.Registerer, version string) error {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "karpenter_build_info", Help: "1, labelled with the build that runs.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version(), "goarch": runtime.GOARCH, "commit": commit()},
	})
	info.Set(1)
	if err := into.Register(info); err != nil {
		return fmt.Errorf("register the metric of the build: %w", err)
	}
	return nil
}

// commit returns the revision that the program was built from, "" when it does not know.
func commit() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

func register[C prometheus.Collector](r *registrar, c C) C {
	err := r.into.Register(c)
	if twice, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if known, ok := twice.ExistingCollector.(C); ok {
			return known
		}
	}
	if err != nil {
		r.errs = append(r.errs, err)
	}
	return c
}
