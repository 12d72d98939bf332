package nodeclass

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/provider"
)

const (
	// staleReadings is how many times in a row a class has to be left without an answer until
	// what was read last counts as stale; staleAfter is the least time without one.
	staleReadings = 2
	staleAfter    = 10 * time.Minute
)

// partOf names what AWS is asked for to settle a condition of the class; "" when it is not
// asked: for what the class does not name, and for an instance profile that it names itself.
func partOf(class *awsv1.EC2NodeClass, condition string) string {
	switch condition {
	case awsv1.ConditionSubnetsReady:
		return "subnets"
	case awsv1.ConditionSecurityGroupsReady:
		return "security groups"
	case awsv1.ConditionAMIsReady:
		return "images"
	case awsv1.ConditionInstanceProfileReady:
		if class.Spec.InstanceProfile == nil {
			return "instance profile"
		}
	case awsv1.ConditionCapacityReservationsReady:
		if len(class.Spec.CapacityReservationSelectorTerms) > 0 {
			return "capacity reservations"
		}
	case awsv1.ConditionPlacementGroupReady:
		if class.Spec.PlacementGroupSelector != nil {
			return "placement group"
		}
	}
	return ""
}

// isAnswer reports whether a step that ended with err has heard from AWS what there is. That
// something is missing is an answer, too; that one may not ask is none.
func isAnswer(err error) bool {
	kind := provider.KindOf(err)
	return err == nil || isLack(err) || kind.Definitive() && kind != provider.Unauthorized
}

// Ages are the metrics that say when each part of each class was last read from AWS, and
// whether that is too long ago. They are computed at the scrape, so that a reconciler that
// does not run any more shows. Make it with NewAges.
type Ages struct {
	clock func() time.Time
	// staleAfter is the time without an answer after which a part is stale.
	staleAfter time.Duration
	read, old  *prometheus.Desc

	mu      sync.Mutex
	classes map[string]map[string]age
}

// age is when a part was asked for first, and when AWS answered last, zero for never.
type age struct{ asked, answered time.Time }

// NewAges makes the metrics of classes that are resolved again after each interval.
func NewAges(clock func() time.Time, every time.Duration) *Ages {
	labels := []string{"class", "what"}
	return &Ages{
		clock: clock, staleAfter: max(staleReadings*every, staleAfter), classes: map[string]map[string]age{},
		read: prometheus.NewDesc("spokeshave_aws_class_updated_timestamp_seconds",
			"When what an EC2NodeClass is resolved with was last read from AWS; 0 is never.", labels, nil),
		old: prometheus.NewDesc("spokeshave_aws_class_stale",
			"1 for what an EC2NodeClass is resolved with that could not be read from AWS for ten minutes, or for twice the interval; the last answer serves.", labels, nil),
	}
}

// note records for which of its parts a class was just resolved with an answer of AWS. What is
// not among them is not read any more. Nil records nothing.
func (a *Ages) note(class string, answered map[string]bool) {
	if a == nil {
		return
	}
	now := a.clock()
	a.mu.Lock()
	defer a.mu.Unlock()
	parts := make(map[string]age, len(answered))
	for part, ok := range answered {
		last, known := a.classes[class][part]
		if !known {
			last.asked = now
		}
		if ok {
			last.answered = now
		}
		parts[part] = last
	}
	a.classes[class] = parts
}

// forget drops a class that is gone, or that is not resolved any more. Nil has none.
func (a *Ages) forget(class string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.classes, class)
}

// Describe implements prometheus.Collector.
func (a *Ages) Describe(out chan<- *prometheus.Desc) {
	out <- a.read
	out <- a.old
}

// Collect implements prometheus.Collector.
func (a *Ages) Collect(out chan<- prometheus.Metric) {
	now := a.clock()
	a.mu.Lock()
	defer a.mu.Unlock()
	for class, parts := range a.classes {
		for part, at := range parts {
			read, since, stale := 0.0, at.asked, 0.0
			if !at.answered.IsZero() {
				read, since = float64(at.answered.Unix()), at.answered
			}
			if now.Sub(since) >= a.staleAfter {
				stale = 1
			}
			out <- prometheus.MustNewConstMetric(a.read, prometheus.GaugeValue, read, class, part)
			out <- prometheus.MustNewConstMetric(a.old, prometheus.GaugeValue, stale, class, part)
		}
	}
}
