package decision

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// sample is a gauge that shares its labels with others. A scrape holds every
// metric at once, of a large cluster some 30,000: labels of their own were
// four fifths of what that took.
type sample struct {
	desc *prometheus.Desc
	// labels are in order of their names.
	labels []*dto.LabelPair
	value  float64
}

// Desc implements prometheus.Metric.
func (s sample) Desc() *prometheus.Desc { return s.desc }

// Write implements prometheus.Metric.
func (s sample) Write(out *dto.Metric) error {
	out.Label, out.Gauge = s.labels, &dto.Gauge{Value: &s.value}
	return nil
}

// pairs are labels, given as names and values in turn, in order of names.
func pairs(text ...string) []*dto.LabelPair {
	all := make([]dto.LabelPair, len(text)/2)
	out := make([]*dto.LabelPair, len(all))
	for i := range all {
		all[i].Name, all[i].Value = &text[2*i], &text[2*i+1]
		out[i] = &all[i]
	}
	return out
}
