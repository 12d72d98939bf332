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
)

// seenEvery is how often it is written that the API server was seen.
const seenEvery = time.Minute

// Sync reads the ConfigMap: what is allowed, and whether the API server went back in
// time. It writes what has changed, every minute that the API server was seen, and at once
// that an instance is new.
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
	if b.state.changed || b.history.reviewed && due {
		return b.write(ctx)
	}
	return nil
}

// Launched puts on record, soon after an instance was launched, that a controller was
// there: an API server that is restored from a backup older than that has a record older
// than what this process wrote. When it cannot be written, the API server may be on its way back
// in time, and its history is doubted.
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
	if err != nil {
		stored := decode(b.history.stored)
		b.history.doubt(&stored)
	}
	return err
}

// Marks returns what the record says that tells whether the API server went back in time:
// when a controller saw it last, and when one found that it had gone back. Both are zero when
// there is no record.
func Marks(ctx context.Context, live client.Reader, namespace string) (seen, restored time.Time, err error) {
	cm := &corev1.ConfigMap{}
	if err := live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: Name}, cm); client.IgnoreNotFound(err) != nil {
		return seen, restored, fmt.Errorf("read ConfigMap %s/%s: %w", namespace, Name, err)
	}
	stored := decode(cm)
	return stored.Seen, stored.Restored, nil
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

// write writes the state.
func (b *Breaker) write(ctx context.Context) error {
	if !b.history.synced {
		return nil // the next Sync reads, then writes
	}
	if b.history.reviewed {
		b.state.Seen, b.state.Listed = b.Clock.Now().UTC(), true
		if b.history.listed.After(b.state.Launched) {
			b.state.Launched = b.history.listed
		}
	}
	data, err := b.state.encode()
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
		return fmt.Errorf("write ConfigMap %s/%s: %w", b.Namespace, Name, err)
	}
	b.state.changed = false
	wrong := b.history.ahead != 0
	b.history.wrote(cm, b.Clock.Now())
	if wrong && b.history.ahead == 0 { // what was overdue by a wrong clock is not
		b.clear(Expiration, string(Expiration))
	}
	return nil
}
