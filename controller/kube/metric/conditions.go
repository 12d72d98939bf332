package metric

import (
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// conditionedKind is a kind of objects whose status conditions are measured.
type conditionedKind struct {
	// name is the kind in lower case.
	name string
	// labels are the keys of object labels that become labels of the series, in ascending
	// order.
	labels []string
	// list reads the watch cache; the objects are not changed.
	list func() []client.Object
}

// The kinds of objects whose status conditions are measured.
const (
	KindNodeClaim    = "nodeclaim"
	KindNodePool     = "nodepool"
	KindEC2NodeClass = "ec2nodeclass"
	KindNode         = "node"
)

func conditionedKinds(lists map[string]func() []client.Object) []conditionedKind {
	return []conditionedKind{
		{KindNodeClaim, []string{awsv1.LabelEC2NodeClass, karpv1.LabelNodePool}, lists[KindNodeClaim]},
		{KindNodePool, nil, lists[KindNodePool]},
		{KindEC2NodeClass, nil, lists[KindEC2NodeClass]},
		{KindNode, []string{awsv1.LabelEC2NodeClass, karpv1.LabelInitialized, karpv1.LabelNodePool}, lists[KindNode]},
	}
}

// Conditions is a Prometheus collector of status conditions, under the names that they
// have in Karpenter (operator_<kind>_status_condition_*). The gauges are computed from the
// watch cache when metrics are read, so that what is gone has no series. Transitions are
// counted by Handler.
type Conditions struct {
	kinds []conditionSeries
	now   func() time.Time
	// leading says whether this replica leads: only the leader reports.
	leading func() bool
}

// conditionSeries are the metrics of one kind.
type conditionSeries struct {
	conditionedKind
	count, seconds, terminating *prometheus.Desc
	changes                     transitions
}

// NewConditions registers the collector. lists read the objects of each kind from the watch
// cache. Series by NodePool leave with those of shared.
func NewConditions(into prometheus.Registerer, shared *Reconcilers, lists map[string]func() []client.Object, now func() time.Time, leading func() bool) *Conditions {
	c := &Conditions{now: now, leading: leading}
	for _, kind := range conditionedKinds(lists) {
		one := conditionSeries{conditionedKind: kind, changes: newTransitions(kind)}
		labels := seriesLabels(kind.labels)
		state := append(slices.Clip(labels), "name", "namespace", reasonLabel, "status", "type")
		prefix := "operator_" + kind.name
		one.count = prometheus.NewDesc(prefix+"_status_condition_count", "1 for each condition of an object, by status and reason.", state, nil)
		one.seconds = prometheus.NewDesc(prefix+"_status_condition_current_status_seconds", "For how long a condition has had its status.", state, nil)
		one.terminating = prometheus.NewDesc(prefix+"_termination_current_time_seconds", "For how long an object has been deleted and not gone.", append(slices.Clip(labels), "name", "namespace"), nil)
		c.kinds = append(c.kinds, one)
		one.changes.register(into)
		shared.leaveWithPool(seriesLabel(karpv1.LabelNodePool), one.changes.vectors()...)
	}
	into.MustRegister(c)
	return c
}

// seriesLabel returns the label of a series for the key of an object's label.
func seriesLabel(key string) string {
	return strings.NewReplacer("/", "_", ".", "_", "-", "_").Replace(key)
}

func seriesLabels(keys []string) []string {
	out := make([]string, 0, len(keys)+5)
	for _, key := range keys {
		out = append(out, seriesLabel(key))
	}
	return out
}

// Describe implements prometheus.Collector.
func (c *Conditions) Describe(out chan<- *prometheus.Desc) {
	for i := range c.kinds {
		out <- c.kinds[i].count
		out <- c.kinds[i].seconds
		out <- c.kinds[i].terminating
	}
}

// Collect implements prometheus.Collector.
func (c *Conditions) Collect(out chan<- prometheus.Metric) {
	if !c.leading() {
		return
	}
	now, pairs := c.now(), labelCache{}
	for i := range c.kinds {
		kind := &c.kinds[i]
		for _, o := range kind.list() {
			kind.collect(o, now, pairs, out)
		}
	}
}

func (k *conditionSeries) collect(o client.Object, now time.Time, pairs labelCache, out chan<- prometheus.Metric) {
	of := make([]*dto.LabelPair, 0, len(k.labels)+2)
	for _, key := range k.labels {
		of = append(of, pairs.get(seriesLabel(key), o.GetLabels()[key]))
	}
	of = append(of, labelPairs("name", o.GetName())[0], pairs.get("namespace", o.GetNamespace()))
	if deleted := o.GetDeletionTimestamp(); deleted != nil {
		out <- gaugeSample{k.terminating, of, max(0, now.Sub(deleted.Time)).Seconds()}
	}
	eachCondition(o, func(one conditionState) {
		labels := append(slices.Clip(of), pairs.get(reasonLabel, one.reason), pairs.get("status", one.status), pairs.get("type", one.kind))
		out <- gaugeSample{k.count, labels, 1}
		out <- gaugeSample{k.seconds, labels, max(0, now.Sub(one.since)).Seconds()}
	})
}

// labelCache shares equal labels among the samples of one collection.
type labelCache map[[2]string]*dto.LabelPair

func (c labelCache) get(name, value string) *dto.LabelPair {
	key := [2]string{name, value}
	if c[key] == nil {
		c[key] = labelPairs(name, value)[0]
	}
	return c[key]
}

// conditionState is one condition of an object.
type conditionState struct {
	kind, status, reason string
	since                time.Time
}

// eachCondition calls yield with every condition of an object, nil for none.
func eachCondition(o client.Object, yield func(conditionState)) {
	var all []metav1.Condition
	switch o := o.(type) {
	case *karpv1.NodeClaim:
		all = o.Status.Conditions
	case *karpv1.NodePool:
		all = o.Status.Conditions
	case *awsv1.EC2NodeClass:
		all = o.Status.Conditions
	case *corev1.Node:
		for i := range o.Status.Conditions {
			c := &o.Status.Conditions[i]
			yield(conditionState{string(c.Type), string(c.Status), c.Reason, c.LastTransitionTime.Time})
		}
	}
	for i := range all {
		c := &all[i]
		yield(conditionState{c.Type, string(c.Status), c.Reason, c.LastTransitionTime.Time})
	}
}
