package aws

import (
	"strings"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// The windows that calls are joined in, as metrics name them: after the call that
// they end in.
const (
	batchLaunches = "create_fleet"
	batchLooks    = "describe_instances"
	batchEnds     = "terminate_instances"
)

// figures are the metrics of what could not be launched or ended, of windows and
// of user data, under Karpenter's names.
type figures struct {
	launches, ends        *prometheus.CounterVec
	batchSize, batchTimes *prometheus.HistogramVec
	userData              *prometheus.GaugeVec
}

func newFigures() figures {
	return figures{
		launches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "karpenter_cloudprovider_instance_launch_failures_total", Help: "Offerings of launch requests that EC2 refused, by the kind of the refusal.",
		}, []string{"zone", "zone_id", "capacity_type", "reason"}),
		ends: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "karpenter_cloudprovider_instance_termination_failures_total", Help: "Instances that could not be ended, each time that it was tried; those that are gone already are none.",
		}, []string{"zone", "zone_id"}),
		batchSize: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "karpenter_cloudprovider_batcher_batch_size", Help: "Questions that were put together.", Buckets: []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000},
		}, []string{"batcher"}),
		batchTimes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "karpenter_cloudprovider_batcher_batch_time_seconds", Help: "For how long questions were gathered before they were put.", Buckets: prometheus.ExponentialBuckets(0.01, 2, 10),
		}, []string{"batcher"}),
		userData: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "karpenter_ec2nodeclasses_userdata_bytes", Help: "Size of the user data of the node class's last launch, before base64: the largest, where instance types differ.",
		}, []string{"nodeclass"}),
	}
}

func (f *figures) all() []prometheus.Collector {
	return []prometheus.Collector{f.launches, f.ends, f.batchSize, f.batchTimes, f.userData}
}

// notLaunched counts offerings that were refused.
func (p *Provider) notLaunched(kind provider.Kind, options []model.Option) {
	if p.metrics == nil {
		return
	}
	for i := range options {
		o := &options[i]
		p.metrics.launches.WithLabelValues(o.Zone, p.zoneIDs.of(o.Zone), string(o.CapacityType), string(kind)).Inc()
	}
}

// notEnded counts an instance that could not be ended.
func (p *Provider) notEnded(providerID string) {
	if p.metrics == nil {
		return
	}
	zone, _, _ := strings.Cut(strings.TrimPrefix(providerID, "aws:///"), "/")
	p.metrics.ends.WithLabelValues(zone, p.zoneIDs.of(zone)).Inc()
}

// gathered is what a window tells when it closes; nil records nothing.
func (m *metrics) gathered(batcher string) func(size int, took time.Duration) {
	if m == nil {
		return nil
	}
	return func(size int, took time.Duration) {
		m.batchSize.WithLabelValues(batcher).Observe(float64(size))
		m.batchTimes.WithLabelValues(batcher).Observe(took.Seconds())
	}
}

// told notes the user data of a class, and that it is gone with 0.
func (m *metrics) told(class string, size int) {
	switch {
	case m == nil:
	case size == 0:
		m.userData.DeleteLabelValues(class)
	default:
		m.userData.WithLabelValues(class).Set(float64(size))
	}
}

// asked are all offerings of a launch request.
func asked(in fleetInput) []model.Option {
	var out []model.Option
	for i := range in.LaunchTemplateConfigs {
		for _, o := range in.LaunchTemplateConfigs[i].Overrides {
			out = append(out, model.Option{InstanceType: string(o.InstanceType), Zone: sdk.ToString(o.AvailabilityZone), CapacityType: capacityType(in)})
		}
	}
	return out
}

// zoneNames are the IDs of the zones that node classes have subnets in.
type zoneNames struct{ known sync.Map }

func (z *zoneNames) learn(zone, id string) { z.known.Store(zone, id) }

// of is the ID of a zone, empty when it is not known.
func (z *zoneNames) of(zone string) string {
	id, _ := z.known.Load(zone)
	text, _ := id.(string)
	return text
}
