package breaker

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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
	cm := &corev1.ConfigMap{}
	err := b.Live.Get(ctx, types.NamespacedName{Namespace: b.Namespace, Name: Name}, cm)
	if apierrors.IsNotFound(err) {
		cm, err = nil, nil
	}
	if err != nil {
		return fmt.Errorf("read ConfigMap %s/%s: %w", b.Namespace, Name, err)
	}
	now, stored := b.Clock.Now(), decode(cm)
	if !b.history.synced {
		b.state = stored
		for _, kind := range kinds() {
			b.Metrics.set(kind, b.state.count(kind))
		}
	}
	b.history.look(cm, &stored, &b.state)
	if cm != nil {
		b.allow(ctx, cm)
	}
	if b.state.changed || b.history.reviewed && (now.Sub(b.state.Seen) >= seenEvery || b.history.listed.After(b.state.Launched)) {
		return b.write(ctx)
	}
	return nil
}

// write writes the state.
func (b *Breaker) write(ctx context.Context) error {
	if !b.history.synced {
		return nil // the next Sync reads, then writes
	}
	if b.history.reviewed {
		b.state.Seen = b.Clock.Now().UTC()
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
