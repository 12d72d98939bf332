package configmap

import (
	"context"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// Writer is a client that gives each ConfigMap that it creates or updates the Labels, and tells
// when the API server refuses one for good ([Refused]): in the log and by an event, again every hour, and by a
// metric. It is safe for concurrent use.
type Writer struct {
	client.Client

	Events events.EventRecorder
	Clock  clock.PassiveClock
	Labels map[string]string
	// Metrics may be nil.
	Metrics *Metrics

	mu sync.Mutex
	// told is when the refusal of a record was told last; a record that was not refused is not there.
	told map[string]time.Time
}

// tellAfter is when a refusal that lasts is told again.
const tellAfter = time.Hour

// Create implements client.Client.
func (w *Writer) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	w.label(o)
	err := w.Client.Create(ctx, o, opts...)
	w.wrote(ctx, o, err)
	return err
}

// Update implements client.Client.
func (w *Writer) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	w.label(o)
	err := w.Client.Update(ctx, o, opts...)
	w.wrote(ctx, o, err)
	return err
}

// label sets the labels, except those of the controller's own domain, by which it knows policies and copies.
func (w *Writer) label(o client.Object) {
	if len(w.Labels) == 0 {
		return
	}
	all := map[string]string{}
	maps.Copy(all, o.GetLabels())
	for key, value := range w.Labels {
		if !strings.HasPrefix(key, karpv1.Domain+"/") {
			all[key] = value
		}
	}
	o.SetLabels(all)
}

// wrote tells what came of a write.
func (w *Writer) wrote(ctx context.Context, o client.Object, err error) {
	record := recordOf(o)
	w.mu.Lock()
	defer w.mu.Unlock()
	last, refused := w.told[record]
	log := logr.FromContextOrDiscard(ctx).WithValues("record", record)
	switch {
	case err == nil && refused:
		delete(w.told, record)
		w.Metrics.set(record, 0)
		log.Info("the API server accepts a record again")
	case !Refused(err) || refused && w.Clock.Since(last) < tellAfter:
	default:
		if w.told == nil {
			w.told = map[string]time.Time{}
		}
		w.told[record] = w.Clock.Now()
		w.Metrics.set(record, 1)
		log.Error(err, "the API server refuses a record")
		about := &corev1.ConfigMap{}
		about.Namespace, about.Name, about.UID = o.GetNamespace(), o.GetName(), o.GetUID()
		w.Events.Eventf(about, nil, corev1.EventTypeWarning, karpv1.EventRecordRefused, "Write",
			"the API server refuses what the controller writes: %s; %s", Reason(err), WayOut)
	}
}

// WayOut says what to do about a refusal.
const WayOut = "let the controller's service account write its ConfigMaps; labels that are demanded belong into additionalLabels of the chart, but changing them starts the controller again"

// copies are the copies of policies in metrics: there are many, each with a name of its own.
const copies = "spokeshave-policy-copies"

// recordOf returns the name of a record in metrics.
func recordOf(o client.Object) string {
	if cm, ok := o.(*corev1.ConfigMap); ok && cm.Immutable != nil && *cm.Immutable {
		return copies
	}
	return o.GetName()
}

// Metrics say which records the API server refuses. A nil *Metrics records nothing.
type Metrics struct{ refused *prometheus.GaugeVec }

// NewMetrics registers the metrics.
func NewMetrics(into prometheus.Registerer) *Metrics {
	m := &Metrics{refused: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "spokeshave_record_refused", Help: "1 while the API server refuses a ConfigMap that the controller writes, by its name.",
	}, []string{"record"})}
	into.MustRegister(m.refused)
	return m
}

func (m *Metrics) set(record string, value float64) {
	if m != nil {
		m.refused.WithLabelValues(record).Set(value)
	}
}
