// Package metric holds the counters that several reconcilers share, under the
// names that users of Karpenter have alerts on.
//
// Not here: metrics that one package alone knows of, which it keeps itself.
package metric

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/prometheus/client_golang/prometheus"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// Labels of the metrics, as in Karpenter.
const (
	nodePool     = "nodepool"
	capacityType = "capacity_type"
	reasonLabel  = "reason"
)

// Set are the shared metrics. A nil Set records nothing.
type Set struct {
	disrupted, terminated                       *prometheus.CounterVec
	nodesCreated, nodesTerminated, nodesDrained *prometheus.CounterVec
}

// New registers the metrics, or finds them registered already.
func New(into prometheus.Registerer) (*Set, error) {
	s := &Set{}
	r := registrar{into: into}
	s.disrupted = counter(&r, "karpenter_nodeclaims_disrupted_total", "NodeClaims whose deletion was decided here, by reason.", nodePool, capacityType, reasonLabel)
	s.terminated = counter(&r, "karpenter_nodeclaims_terminated_total", "NodeClaims whose instance has ended.", nodePool, capacityType)
	s.nodesCreated = counter(&r, "karpenter_nodes_created_total", "Nodes that have registered.", nodePool)
	s.nodesTerminated = counter(&r, "karpenter_nodes_terminated_total", "Nodes that have been drained and ended.", nodePool)
	s.nodesDrained = counter(&r, "karpenter_nodes_drained_total", "Nodes whose pods have left, or were out of time.", nodePool)
	if err := errors.Join(r.errs...); err != nil {
		return nil, fmt.Errorf("register metrics of the reconcilers: %w", err)
	}
	return s, nil
}

// Subject is the NodeClaim that a metric counts.
type Subject struct {
	NodePool, CapacityType string
}

// Disrupted counts a NodeClaim that was deleted for the reason: a word in
// CamelCase or snake_case, which the metric has in snake_case.
func (s *Set) Disrupted(of Subject, reason string) {
	if s != nil {
		s.disrupted.WithLabelValues(of.NodePool, of.CapacityType, Snake(reason)).Inc()
	}
}

// Terminated counts a NodeClaim whose instance has ended.
func (s *Set) Terminated(of Subject) {
	if s != nil {
		s.terminated.WithLabelValues(of.NodePool, of.CapacityType).Inc()
	}
}

// NodeCreated counts a node that has registered.
func (s *Set) NodeCreated(of Subject) {
	if s != nil {
		s.nodesCreated.WithLabelValues(of.NodePool).Inc()
	}
}

// NodeDrained counts a node whose pods have left.
func (s *Set) NodeDrained(of Subject) {
	if s != nil {
		s.nodesDrained.WithLabelValues(of.NodePool).Inc()
	}
}

// NodeTerminated counts a node that has been ended.
func (s *Set) NodeTerminated(of Subject) {
	if s != nil {
		s.nodesTerminated.WithLabelValues(of.NodePool).Inc()
	}
}

// SubjectOf reads the labels that claims and nodes share.
func SubjectOf(labels map[string]string) Subject {
	return Subject{NodePool: labels[karpv1.LabelNodePool], CapacityType: labels[karpv1.LabelCapacityType]}
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

// registrar registers collectors and gathers what went wrong.
type registrar struct {
	into prometheus.Registerer
	errs []error
}

// counter registers a vector of counters, or finds the one of the same name.
func counter(r *registrar, name, help string, labels ...string) *prometheus.CounterVec {
	return register(r, prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels))
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
