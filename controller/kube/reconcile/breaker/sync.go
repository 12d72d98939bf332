package breaker

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/controller/kube/reconcile/configmap"
)

// seenEvery is how often it is written that the API server was seen.
const seenEvery = time.Minute

// Sync reads the ConfigMap: what is allowed, and whether the API server went back in
// time. It writes what has changed, every minute that the API server was seen, at once
// that an instance is new, and in any case the first time. That the API server refuses the write for good is no error: see
// [Breaker.write].
func (b *Breaker) Sync(ctx context.Context) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := read(ctx, b); err != nil {
		return err
	}
	due := b.Clock.Since(b.state.Seen) >= seenEvery || b.history.listed.After(b.state.Launched)
	if due = b.history.reviewed && due; !due && !b.state.changed && b.history.tried && b.refused == "" {
		return nil
	}
	if err := b.write(ctx); !configmap.Refused(err) {
		return err
	}
	return nil
}

// Launched puts on record, soon after an instance was launched, that a controller was
// there: an API server that is restored from a backup older than that has a record older
// than what this process wrote. When it cannot be written, the API server may be on its way back
// in time, and its history is doubted. As with [Breaker.Sync], a refusal is no error.
func Launched(ctx context.Context, b *Breaker) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	err := read(ctx, b)
	if err == nil && b.history.reviewed {
		err = b.write(ctx)
	}
	if configmap.Refused(err) {
		return nil // it is doubted already
	}
	if err != nil {
		stored := decode(b.history.stored)
		b.history.doubt(&stored)
	}
	return err
}

// Marks returns what of the record tells whether the API server went back in time: its
// revision, and when a controller found that. Both are zero when there is no record.
func Marks(ctx context.Context, live client.Reader, namespace string) (of uint64, restored time.Time, err error) {
	cm := &corev1.ConfigMap{}
	err = live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: Name}, cm)
	if apierrors.IsNotFound(err) {
		return 0, time.Time{}, nil
	}
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("read ConfigMap %s/%s: %w", namespace, Name, err)
	}
	return revision(cm), decode(cm).Restored, nil
}

// read reads the ConfigMap.
func read(ctx context.Context, b *Breaker) error {
	cm := &corev1.ConfigMap{}
	err := b.Live.Get(ctx, types.NamespacedName{Namespace: b.Namespace, Name: Name}, cm)
	if apierrors.IsNotFound(err) {
		cm, err = nil, nil
	}
	if err != nil {
		return fmt.Errorf("read ConfigMap %s/%s: %w", b.Namespace, Name, err)
	}
	stored := decode(cm)
	if !b.history.synced {
		b.state = stored
		for _, kind := range kinds() {
			b.Metrics.set(kind, b.state.count(kind))
		}
	}
	b.history.look(cm, &stored, &b.state, b.Clock.Now())
	if cm != nil {
		b.allow(ctx, cm)
	}
	return nil
}

// write writes the state. While the API server refuses that, its history is doubted: an instance that
// is newer than what is on record may be one that it has forgotten.
func (b *Breaker) write(ctx context.Context) error {
	if !b.history.synced {
		return nil // the next Sync reads, then writes
	}
	next := b.state
	if b.history.reviewed && b.refused == "" { // once it is accepted again, everything is compared with what was on record first
		next.Seen, next.Listed = b.Clock.Now().UTC(), true
		if b.history.listed.After(next.Launched) {
			next.Launched = b.history.listed
		}
	}
	data, err := next.encode()
	if err != nil {
		return err
	}
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: Name}}
	if last := b.history.stored; last != nil {
		cm = last.DeepCopy()
	}
	cm.Data = data
	if cm.UID == "" {
		err = b.Client.Create(ctx, cm)
	} else {
		err = b.Client.Update(ctx, cm)
	}
	if err != nil {
		if configmap.Refused(err) {
			refuse(b, configmap.Reason(err))
		}
		return fmt.Errorf("write ConfigMap %s/%s: %w", b.Namespace, Name, err)
	}
	b.state, b.state.changed = next, false
	unknown := b.history.ahead != 0 || b.refused != ""
	if b.refused != "" {
		b.refused = ""
		b.history.doubt(&next)
	}
	b.history.wrote(cm, b.Clock.Now())
	if unknown && b.history.ahead == 0 { // what was overdue by a wrong clock, or by one that could not be compared, is found anew
		b.clear(Expiration, string(Expiration))
	}
	return nil
}

// refuse notes that the API server refuses the record. When it refuses the first one of this process, what is on record of
// NodePools may be old, and is forgotten: changes since then explain nothing.
func refuse(b *Breaker, why string) {
	if !b.history.tried {
		b.state.Pools = nil
	}
	b.history.tried, b.history.compared = true, false
	b.refused = why
	stored := decode(b.history.stored)
	b.history.doubt(&stored)
}
