package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/kube/reconcile/configmap"
)

// save writes the ledger and, when that is due, the earlier one. If it is too large for
// a ConfigMap, the stored copy has its smallest entries merged; the ledger in memory
// stays complete. When another replica has written meanwhile, this one was paused: the
// next Count reads what the other wrote.
func (k *Tracker) save(ctx context.Context, l *spend.Ledger) error {
	if k.newer != nil {
		return nil
	}
	text, err := k.write(ctx, l)
	if err != nil {
		return err
	}
	if k.pending == nil && l.Through.Sub(k.copied) >= previousInterval && (k.copied.IsZero() || l.Through.Sub(l.Month) >= monthKept || !k.copied.Before(l.Month)) {
		k.pending = l
	}
	if k.pending == nil {
		return nil
	}
	if k.pending != l {
		if text, err = encode(k.pending); err != nil {
			return fmt.Errorf("write earlier ledger: %w", err)
		}
	}
	if err := k.store(PreviousName).Write(ctx, text); err != nil {
		return fmt.Errorf("write earlier ledger: %w", err)
	}
	k.copied, k.pending = k.pending.Through, nil
	return nil
}

// write writes the ledger, and returns what it has written.
func (k *Tracker) write(ctx context.Context, l *spend.Ledger) ([]byte, error) {
	for entries := l.Entries(); ; entries /= 2 {
		kept := l.Trim(entries)
		text, err := kept.Encode()
		if err != nil {
			return nil, fmt.Errorf("write ledger: %w", err)
		}
		if err = k.replace(ctx, text, nil); entries == 0 || !errors.Is(err, configmap.ErrTooLarge) {
			return text, err
		}
	}
}

// encode returns the ledger as it is stored, with the rows of its days merged.
func encode(l *spend.Ledger) ([]byte, error) {
	kept := l.Trim(l.Entries())
	return kept.Encode()
}

// replace writes the stored ConfigMap: the record, unless text is nil, and annotations.
// It repeats the write when only annotations have changed since it was read, when the change is an
// earlier write of its own that was not answered, or when it was deleted.
func (k *Tracker) replace(ctx context.Context, text []byte, annotations map[string]string) error {
	for try := 0; ; try++ {
		cm, err := k.store(Name).Replace(ctx, k.stored, text, annotations)
		switch {
		case err == nil:
			k.stored, k.refused, k.tried, k.unanswered = cm, "", k.Clock.Now(), nil
			k.clock.compare(k.Clock.Now(), serverTime(cm), k.ClockTolerance)
			return nil
		case configmap.Refused(err):
			k.refused, k.tried = configmap.Reason(err), k.Clock.Now()
			return err
		case try > 2 || !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err):
			if text != nil {
				k.unanswered = text
			}
			return err
		}
		if rereadErr := k.reread(ctx); rereadErr != nil {
			return rereadErr
		}
		if k.stored == nil && text == nil {
			return err // it was deleted: there is nothing to annotate
		}
	}
}

// errOvertaken says that another replica has written the ledger.
var errOvertaken = errors.New("another replica has written the ledger, which is read again")

// reread reads the stored ConfigMap after its version has changed. The error says that its
// record has changed too, and that this one's is not to be written now.
func (k *Tracker) reread(ctx context.Context) error {
	now := &corev1.ConfigMap{}
	err := k.Live.Get(ctx, types.NamespacedName{Namespace: k.Namespace, Name: Name}, now)
	switch {
	case apierrors.IsNotFound(err):
		k.stored, k.newer = nil, nil
		return nil
	case err != nil:
		return fmt.Errorf("read ConfigMap %s/%s: %w", k.Namespace, Name, err)
	case k.stored != nil && bytes.Equal(now.BinaryData[Key], k.stored.BinaryData[Key]):
		k.stored = now
		return nil
	}
	if text, err := k.store(Name).Text(now); err == nil && k.unanswered != nil && bytes.Equal(text, k.unanswered) {
		k.stored, k.unanswered = now, nil // this replica has written it
		return nil
	}
	return k.foreign(ctx, now)
}
