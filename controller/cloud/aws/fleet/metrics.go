package fleet

import (
	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// Metrics are those of launches, under Karpenter's names; nil records nothing.
type Metrics struct {
	// ZoneID is the ID of a zone, empty when it is not known.
	ZoneID func(zone string) string

	launches *prometheus.CounterVec
	userData *prometheus.GaugeVec
}

// NewMetrics makes the metrics; Collectors are to be registered.
func NewMetrics(zoneID func(zone string) string) *Metrics {
	return &Metrics{
		ZoneID: zoneID,
		launches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "karpenter_cloudprovider_instance_launch_failures_total", Help: "Offerings of launch requests that EC2 refused, by the kind of the refusal.",
		}, []string{"zone", "zone_id", "capacity_type", "reason"}),
		userData: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "karpenter_ec2nodeclasses_userdata_bytes", Help: "Size of the user data of the node class's last launch, before base64: the largest, where instance types differ.",
		}, []string{"nodeclass"}),
	}
}

// Collectors are all metrics of launches.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.launches, m.userData}
}

// refused counts offerings that were refused.
func (m *Metrics) refused(kind provider.Kind, options []model.Option) {
	if m == nil {
		return
	}
	for i := range options {
		o := &options[i]
		m.launches.WithLabelValues(o.Zone, m.ZoneID(o.Zone), string(o.CapacityType), string(kind)).Inc()
	}
}

// userDataOf notes the size of a class's user data in bytes.
func (m *Metrics) userDataOf(class string, size int) {
	if m != nil && size > 0 {
		m.userData.WithLabelValues(class).Set(float64(size))
	}
}

// ForgetClass drops what is said of a class that is gone.
func (m *Metrics) ForgetClass(class string) {
	if m != nil {
		m.userData.DeleteLabelValues(class)
	}
}
