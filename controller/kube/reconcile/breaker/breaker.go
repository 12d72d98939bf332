package breaker

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/reconcile/configmap"
)

// Name is the name of the ConfigMap, in the controller's own namespace.
const Name = "spokeshave-breakers"

// Kind is a kind of mass deletion.
type Kind string

// The kinds. They are part of annotations, entries of the ConfigMap and labels of metrics.
const (
	GarbageCollection Kind = "garbage-collection"
	Expiration        Kind = "expiration"
	Drift             Kind = "drift"
)

func kinds() []Kind { return []Kind{GarbageCollection, Expiration, Drift} }

const (
	// fewest is how many nodes may always go: a share of a small fleet is less than one.
	fewest = 2
	// repeatAfter is when the event about something that is stopped is sent again.
	repeatAfter = time.Hour
	// longestAllowance is how far ahead an allowance may end.
	longestAllowance = 24 * time.Hour
)

// Breaker knows what is stopped and what is allowed. A nil *Breaker stops nothing. It may
// be used by several goroutines.
type Breaker struct {
	Client client.Client
	// Live reads from the API server: the ConfigMap is not in the cache.
	Live      client.Reader
	Events    events.EventRecorder
	Namespace string
	Clock     clock.PassiveClock
	// Percent is the largest share of nodes that may go, 0 to 100.
	Percent int
	// Metrics may be nil.
	Metrics *Metrics

	mu      sync.Mutex
	state   state
	allowed map[Kind]time.Time
	told    reminders
	history history
	// refused is why the API server refused the last write for good, "" while it does not.
	refused string
}

// reminders are when events were sent last, by what they are about.
type reminders map[string]time.Time

// due reports whether an event was not sent within the last hour, and notes that it is now.
func (r *reminders) due(key string, now time.Time) bool {
	if now.Sub((*r)[key]) < repeatAfter {
		return false
	}
	if *r == nil {
		*r = reminders{}
	}
	(*r)[key] = now
	return true
}

// Limit is how many of the nodes may go without being asked for.
func (b *Breaker) Limit(nodes int) int { return max(fewest, (nodes*b.Percent+99)/100) }

// Stopped reports whether a kind is stopped, of a NodePool or, with "", of all.
func (b *Breaker) Stopped(kind Kind, pool string) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state.Stopped[entry(kind, pool)] != ""
}

// Allowed reports whether somebody has allowed a kind for now.
func (b *Breaker) Allowed(kind Kind) bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Clock.Now().Before(b.allowed[kind])
}

// Stop stops a kind, for a reason, until it is allowed or [Breaker.Clear] is called, and
// says so. It says so again every hour. The reason of what is stopped already stays. What the
// API server refuses to record is stopped all the same, until the controller ends.
func (b *Breaker) Stop(ctx context.Context, kind Kind, pool, reason string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := entry(kind, pool)
	if known := b.state.Stopped[key]; known != "" {
		reason = known
	} else {
		b.state.stop(key, reason)
		b.Metrics.set(kind, b.state.count(kind))
	}
	if b.told.due(key, b.Clock.Now()) {
		text := reason + unrecorded(b) + "; nothing is done until somebody looks. To allow it for an hour: " + b.command(kind)
		logr.FromContextOrDiscard(ctx).Info("stopped", "kind", kind, "pool", pool, "reason", reason, "allow", b.command(kind))
		b.event(karpv1.EventDisruptionStopped, text)
	}
	if err := b.write(ctx); !configmap.Refused(err) {
		return err
	}
	return nil
}

// unrecorded says, as a part of a sentence, that nothing can be recorded; "" while it can.
func unrecorded(b *Breaker) string {
	if b.refused == "" {
		return ""
	}
	return fmt.Sprintf("; besides, the API server refuses ConfigMap %s/%s (%s): %s", b.Namespace, Name, b.refused, configmap.WayOut)
}

// Clear ends a stop whose reason is gone.
func (b *Breaker) Clear(kind Kind, pool string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear(kind, entry(kind, pool))
}

func (b *Breaker) clear(kind Kind, key string) {
	if b.state.Stopped[key] == "" {
		return
	}
	delete(b.state.Stopped, key)
	delete(b.told, key)
	b.state.changed = true
	b.Metrics.set(kind, b.state.count(kind))
}

// Synced reports whether the ConfigMap was read, and whether it can be written is known: until then it is
// not known what is stopped, nor whether what was read is old.
func (b *Breaker) Synced() bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.history.synced && b.history.tried
}

// Annotation is the annotation of the ConfigMap that allows a kind until the RFC 3339
// time that is its value.
func Annotation(kind Kind) string { return karpv1.Domain + "/allow-" + string(kind) }

// command is what allows a kind for an hour.
func (b *Breaker) command(kind Kind) string {
	return fmt.Sprintf("kubectl -n %s annotate configmap %s --overwrite %s=$(date -u -d '+1 hour' +%%Y-%%m-%%dT%%H:%%M:%%SZ)", b.Namespace, Name, Annotation(kind))
}

// allow reads what the ConfigMap's annotations allow, ends what they allow, and says so.
func (b *Breaker) allow(ctx context.Context, cm *corev1.ConfigMap) {
	now := b.Clock.Now()
	for _, kind := range kinds() {
		text, given := cm.Annotations[Annotation(kind)]
		until, err := time.Parse(time.RFC3339, text)
		valid := err == nil && until.Sub(now) <= longestAllowance
		if given && !valid && b.told.due("annotation "+string(kind)+" "+text, now) {
			b.event(karpv1.EventDisruptionStopped, fmt.Sprintf("annotation %s: %q allows nothing: want an RFC 3339 time at most %s ahead, as in: %s",
				Annotation(kind), text, longestAllowance, b.command(kind)))
		}
		if !valid || !now.Before(until) {
			delete(b.allowed, kind)
			continue
		}
		if b.allowed == nil {
			b.allowed = map[Kind]time.Time{}
		}
		if !b.allowed[kind].Equal(until) {
			b.allowed[kind] = until
			logr.FromContextOrDiscard(ctx).Info("allowed", "kind", kind, "until", until.Format(time.RFC3339))
			b.event(karpv1.EventDisruptionAllowed, fmt.Sprintf("%s goes on, whatever it ends, until %s, because an annotation allows it", kind, until.Format(time.RFC3339)))
		}
		for key := range b.state.Stopped {
			if kindOf(key) == kind {
				b.clear(kind, key)
			}
		}
	}
}

func (b *Breaker) event(reason, text string) {
	about := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: Name, UID: b.history.uid},
	}
	b.Events.Eventf(about, nil, corev1.EventTypeWarning, reason, "Disrupt", "%s", text)
}
