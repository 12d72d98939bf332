package metric

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// transitions are the metrics of how conditions of one kind of objects have changed. Their
// series are not of single objects.
type transitions struct {
	total      *prometheus.CounterVec
	seconds    *prometheus.HistogramVec
	terminated *prometheus.HistogramVec
}

func newTransitions(kind conditionedKind) transitions {
	labels := seriesLabels(kind.labels)
	prefix, buckets := "operator_"+kind.name, prometheus.ExponentialBuckets(0.5, 2, 15)
	with := func(more ...string) []string { return append(slices.Clip(labels), more...) }
	return transitions{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: prefix + "_status_condition_transitions_total", Help: "Changes of conditions, by the new status and reason.",
		}, with("type", "status", reasonLabel)),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: prefix + "_status_condition_transition_seconds", Help: "For how long a condition had a status before it changed.", Buckets: buckets,
		}, with("type", "status")),
		terminated: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: prefix + "_termination_duration_seconds", Help: "Time from an object's deletion until it was gone.", Buckets: buckets,
		}, with()),
	}
}

func (t *transitions) register(into prometheus.Registerer) {
	into.MustRegister(t.total, t.seconds, t.terminated)
}

// vectors are the metrics whose series stay until they are deleted.
func (t *transitions) vectors() []seriesByLabel {
	return []seriesByLabel{t.total, t.seconds, t.terminated}
}

// Handler counts the changes of the objects of a kind, by its name. Those of other replicas
// count where they lead.
func (c *Conditions) Handler(name string) toolscache.ResourceEventHandler {
	var kind *conditionSeries
	for i := range c.kinds {
		if c.kinds[i].name == name {
			kind = &c.kinds[i]
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		UpdateFunc: func(old, o any) {
			before, okay := old.(client.Object)
			after, ok := o.(client.Object)
			if kind != nil && ok && okay && c.leading() {
				kind.changed(before, after)
			}
		},
		DeleteFunc: func(o any) {
			gone, ok := o.(client.Object)
			if kind == nil || !ok || gone.GetDeletionTimestamp() == nil || !c.leading() {
				return
			}
			kind.changes.terminated.WithLabelValues(kind.values(gone)...).Observe(max(0, c.now().Sub(gone.GetDeletionTimestamp().Time)).Seconds())
		},
	}
}

// changed counts the conditions that are new or have another status.
func (k *conditionSeries) changed(before, after client.Object) {
	if before.GetResourceVersion() == after.GetResourceVersion() {
		return // the cache was synced anew
	}
	old := map[string]conditionState{}
	eachCondition(before, func(one conditionState) { old[one.kind] = one })
	eachCondition(after, func(one conditionState) {
		was, known := old[one.kind]
		if was.status == one.status {
			return
		}
		k.changes.total.WithLabelValues(k.values(after, one.kind, one.status, one.reason)...).Inc()
		if known {
			k.changes.seconds.WithLabelValues(k.values(after, was.kind, was.status)...).Observe(max(0, one.since.Sub(was.since)).Seconds())
		}
	})
}

// values are the values of the kind's labels, and more after them.
func (k *conditionSeries) values(o client.Object, more ...string) []string {
	out := make([]string, 0, len(k.labels)+len(more))
	for _, key := range k.labels {
		out = append(out, o.GetLabels()[key])
	}
	return append(out, more...)
}
