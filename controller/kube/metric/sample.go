package metric

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// gaugeSample is a prometheus.Metric of one gauge whose labels may be shared with
// other samples. A scrape of a large cluster holds some 30,000 metrics at once;
// with labels of their own these took five times the memory.
type gaugeSample struct {
	desc *prometheus.Desc
	// labels are in order of their names.
	labels []*dto.LabelPair
	value  float64
}

// Desc implements prometheus.Metric.
func (s gaugeSample) Desc() *prometheus.Desc { return s.desc }

// Write implements prometheus.Metric.
func (s gaugeSample) Write(out *dto.Metric) error {
	out.Label, out.Gauge = s.labels, &dto.Gauge{Value: &s.value}
	return nil
}

// labelPairs returns labels from alternating names and values. Prometheus requires the
// names in ascending order.
func labelPairs(text ...string) []*dto.LabelPair {
	all := make([]dto.LabelPair, len(text)/2)
	out := make([]*dto.LabelPair, len(all))
	for i := range all {
		all[i].Name, all[i].Value = &text[2*i], &text[2*i+1]
		out[i] = &all[i]
	}
	return out
}
