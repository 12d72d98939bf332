// Package announce sends Kubernetes events: no longer than the API server accepts, and by its
// Recorder those of which each is sent only once.
//
// The recorder of client-go keeps every event for six minutes in order to merge it with
// repetitions. That suits conditions that last. The nominations of ten thousand pods
// are never repeated, and keeping them takes more memory than the pods take in the
// cache (docs/measurements/controller.md). The Recorder of this package keeps no event
// that was sent.
package announce

import (
	"context"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record/util"
	"k8s.io/client-go/tools/reference"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// queueLimit is how many events may wait to be sent. Further ones are dropped and
// counted. A waiting event takes about 0.5 kB.
const queueLimit = 16384

// Recorder is an events.EventRecorder that sends each event unmerged, in the order of
// the calls to Eventf. Events are sent only while Start runs.
type Recorder struct {
	client   client.Client
	clock    clock.PassiveClock
	from     string
	instance string
	queue    chan *queuedEvent
	dropped  prometheus.Counter
}

var _ events.EventRecorder = (*Recorder)(nil)

// queuedEvent is an event in the queue. An eventsv1.Event is several times its size.
type queuedEvent struct {
	at                         metav1.MicroTime
	regarding, related         *corev1.ObjectReference
	kind, reason, action, note string
}

// New returns a Recorder whose events name from as the reporting controller. c should
// have its own rate limit, so that a thousand events do not delay other requests.
func New(c client.Client, from string, now clock.PassiveClock, registry prometheus.Registerer) (*Recorder, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("name the reporting instance of events: %w", err)
	}
	r := &Recorder{
		client: c, clock: now, from: from, instance: from + "-" + host, queue: make(chan *queuedEvent, queueLimit),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "spokeshave_events_dropped_total",
			Help: "Events that many objects are told, and that were not sent: the queue was full, or the API server refused.",
		}),
	}
	if err := registry.Register(r.dropped); err != nil {
		return nil, fmt.Errorf("register metrics of events: %w", err)
	}
	return r, nil
}

// Eventf queues an event and does not block. It drops and counts the event when the
// queue is full or regarding has no reference.
func (r *Recorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	about, err := reference.GetReference(r.client.Scheme(), regarding)
	if err != nil {
		r.dropped.Inc()
		return
	}
	each := &queuedEvent{at: metav1.MicroTime{Time: r.clock.Now()}, regarding: about, kind: kind, reason: reason, action: action, note: Cut(fmt.Sprintf(note, args...), NoteLimit)}
	if related != nil {
		if each.related, err = reference.GetReference(r.client.Scheme(), related); err != nil {
			each.related = nil // the event says less, and is still worth sending
		}
	}
	select {
	case r.queue <- each:
	default:
		r.dropped.Inc()
	}
}

// Start sends queued events until the context ends. Events that are queued then are not
// sent.
func (r *Recorder) Start(ctx context.Context) error {
	log := logr.FromContextOrDiscard(ctx).WithName("events")
	for {
		select {
		case <-ctx.Done():
			return nil
		case each := <-r.queue:
			err := r.client.Create(ctx, r.event(each))
			if err == nil || ctx.Err() != nil {
				continue
			}
			r.dropped.Inc()
			// The namespace is being deleted, and the events of its pods with it.
			if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) && !apierrors.IsNotFound(err) {
				log.Error(err, "send event", "reason", each.reason, "object", each.regarding.Name)
			}
		}
	}
}

func (r *Recorder) event(s *queuedEvent) *eventsv1.Event {
	namespace := s.regarding.Namespace
	if namespace == "" { // events are namespaced also when their object is not
		namespace = metav1.NamespaceDefault
	}
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Name:      util.GenerateEventName(s.regarding.Name, s.at.UnixNano()),
			Namespace: namespace,
		},
		EventTime: s.at, ReportingController: r.from, ReportingInstance: r.instance,
		Action: s.action, Reason: s.reason, Type: s.kind, Note: s.note,
		Regarding: *s.regarding, Related: s.related,
	}
}
