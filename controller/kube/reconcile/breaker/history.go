package breaker

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tolerance is by how much clocks may differ, and, where the launch of the newest instance
// was not written, by how much what was written last may be older than what was done last.
const tolerance = 2 * time.Minute

// history compares what the API server knows with what happened. An API server that was
// restored from a backup does not know what came after the backup: neither the claims
// that were made since, nor that the controller was there.
//
// Size: what is on record, what was written, and what both say about the past.
type history struct {
	// synced says that the ConfigMap was read. stored is the ConfigMap as it was read or
	// written last, nil when there was none.
	synced bool
	stored *corev1.ConfigMap
	// tried says that a write was accepted, or refused for good.
	tried bool
	uid   types.UID
	// cutoff is the end of the history that the API server knows, newest the last launch in
	// it, bounded that nothing in it was launched later, and doubted that it may have an end.
	// They are kept until garbage collection has looked (reviewed).
	cutoff, newest             time.Time
	bounded, doubted, reviewed bool
	// listed is when the newest instance of all lists was launched.
	listed time.Time
	// marked says that state.Restored is about what is doubted now. good is when this process saw the
	// API server last before that, zero when it did not.
	marked bool
	good   time.Time
	// seen and launched are what was written last, alive when another controller, or this
	// one, wrote last before this moment.
	seen, launched, alive time.Time
	// ahead is by how much this machine's clock was ahead of the API server's at the last
	// write, compared whether there was one.
	ahead    time.Duration
	compared bool
}

// look compares the stored state with what was written last.
func (h *history) look(cm *corev1.ConfigMap, stored, ours *state, now time.Time) {
	switch {
	case !h.synced:
		h.synced = true
		h.endsAt(stored)
		h.doubted, h.alive, h.marked = !stored.Seen.IsZero() || !stored.Restored.IsZero(), stored.Seen, stored.Restored.After(stored.Seen)
	case !h.seen.IsZero() && (cm == nil || stored.Seen.Before(h.seen) || stored.Launched.Before(h.launched)):
		h.doubt(stored)
		ours.Seen, ours.Launched, ours.Listed, ours.changed = stored.Seen, stored.Launched, stored.Listed, true
		h.good = laterOf(h.good, h.seen)
		lower := cm != nil && revision(cm) < revision(h.stored) // an edit would have raised it
		if lower && !stored.Restored.After(ours.Restored) {
			h.mark(ours, nextMark(now, ours.Restored))
		}
		h.seen, h.launched = time.Time{}, time.Time{}
	}
	if stored.Restored.After(ours.Restored) { // another replica has found it
		h.mark(ours, stored.Restored)
	}
	h.stored = cm
	if cm != nil {
		h.uid = cm.UID
	}
}

// mark notes when it was found that the API server went back in time.
func (h *history) mark(s *state, found time.Time) {
	s.Restored, s.changed, h.marked = found.UTC(), true, true
}

// revision is etcd's revision of an object's last write, which grows with every write of any object. It
// is 0 for no object, and for a text that is no number.
func revision(cm *corev1.ConfigMap) uint64 {
	if cm == nil {
		return 0
	}
	n, err := strconv.ParseUint(cm.ResourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// endsAt notes where the history that the API server knows may end.
func (h *history) endsAt(s *state) {
	h.cutoff, h.newest, h.bounded = s.Seen, s.Launched, s.knowsLaunched()
}

// doubt notes that the history may end with the state. An earlier end that is doubted
// still stays.
func (h *history) doubt(s *state) {
	if !h.doubted || s.Launched.Before(h.newest) {
		h.endsAt(s)
	}
	h.doubted, h.reviewed = true, false
}

// wrote notes a ConfigMap that was written.
func (h *history) wrote(cm *corev1.ConfigMap, now time.Time) {
	same := h.stored != nil && h.stored.ResourceVersion == cm.ResourceVersion // nothing was written: its time is an old one
	h.stored, h.uid, h.tried = cm, cm.UID, true
	if h.reviewed {
		written := decode(cm)
		h.seen, h.launched = written.Seen, written.Launched
		h.alive = h.seen
	}
	if same {
		return
	}
	h.ahead, h.compared = 0, true
	if server := serverTime(cm); !server.IsZero() && now.Sub(server).Abs() > tolerance {
		h.ahead = now.Sub(server)
	}
}

// serverTime returns the API server's time at the last write of an object, zero when it
// is not known.
func serverTime(cm *corev1.ConfigMap) time.Time {
	var latest time.Time
	for i := range cm.ManagedFields {
		if at := cm.ManagedFields[i].Time; at != nil && at.After(latest) {
			latest = at.Time
		}
	}
	return latest
}

// Forgotten reports whether something that was launched at the time, by EC2's clock, is later
// than everything that the API server knows: it was restored from a backup that is older. end
// is the end of what it knows, zero when it does not even know that.
func (b *Breaker) Forgotten(launched time.Time) (end time.Time, forgotten bool) {
	if b == nil {
		return time.Time{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	h := &b.history
	switch {
	case !h.bounded:
		return h.cutoff, h.doubted && launched.After(h.cutoff.Add(tolerance))
	case h.newest.IsZero(): // there was no instance
		return h.cutoff, h.doubted
	}
	return h.newest, h.doubted && launched.After(h.newest)
}

// Listed notes when the newest of the cluster's instances was launched, by EC2's clock. It
// comes before [Breaker.Sync], which writes it.
func Listed(b *Breaker, newest time.Time) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if newest.After(b.history.listed) {
		b.history.listed = newest.UTC()
	}
}

// Doubted reports whether the API server may have gone back in time since the last review.
// Watch caches may then still show what it has lost.
func Doubted(b *Breaker) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.history.doubted
}

// Restored returns when a controller found last that the API server went back in time, zero for never, and
// when this process had seen it last before that, zero when it had not.
func Restored(b *Breaker) (found, good time.Time) {
	if b == nil {
		return time.Time{}, time.Time{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state.Restored, b.history.good
}

// Rewound puts on record that the API server went back in time: this replica has seen it last, before that, at the
// moment good, when the record had the mark known. It does not when another replica has found it since. It may be called
// by replicas that do not lead, and changes nothing else of the record. What the API server refuses for good ([configmap.Refused])
// is doubted in any case by whoever leads.
func Rewound(ctx context.Context, b *Breaker, known, good time.Time) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.history.good = laterOf(b.history.good, good)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: Name}}
	if err := client.IgnoreNotFound(b.Live.Get(ctx, client.ObjectKeyFromObject(cm), cm)); err != nil {
		return fmt.Errorf("read ConfigMap %s/%s: %w", b.Namespace, Name, err)
	}
	stored := decode(cm)
	if stored.Restored.After(known) {
		return nil
	}
	stored.Restored = nextMark(b.Clock.Now(), known)
	data, err := stored.encode()
	if err != nil {
		return err
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
	return nil
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// nextMark returns a mark that is later than the one before, whatever clocks say.
func nextMark(now, before time.Time) time.Time {
	if now.After(before) {
		return now
	}
	return before.Add(time.Second)
}

// Forgot notes, once for each time that its history is doubted, that the API server has forgotten instances: it
// was restored from a backup.
func Forgot(b *Breaker) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := &b.history; !h.marked {
		// Where something could not be written, seen is from before the doubt.
		h.good = laterOf(h.good, h.seen)
		h.mark(&b.state, nextMark(b.Clock.Now(), b.state.Restored))
	}
}

// Urgent reports whether a review is due at once: the API server may have gone back in time, and
// its record can be written.
func Urgent(b *Breaker) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.history.doubted && b.refused == ""
}

// Reviewed notes that all instances were compared with the API server's history. From
// then on the history goes on from now.
func (b *Breaker) Reviewed() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.history.doubted, b.history.reviewed = false, true
	b.history.marked = b.history.marked && b.refused != "" // which doubts it again at once
}

// Overdue reports whether something that was due at the time should have been done by
// the controller that was there: since it was not, something has changed that is not
// time. It reports the same while this machine's clock is wrong, or cannot be compared because the record is refused.
func (b *Breaker) Overdue(due time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused != "" || b.history.ahead != 0 || !b.history.alive.IsZero() && due.Before(b.history.alive.Add(-overdue))
}

// WhyOverdue says what Overdue found, as the end of a sentence.
func (b *Breaker) WhyOverdue() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refused != "" {
		return ", while the clock of the controller's machine cannot be compared with the API server's"
	}
	if b.history.ahead != 0 {
		return fmt.Sprintf(", but the clock of the controller's machine differs by %s from the API server's", b.history.ahead.Abs().Round(time.Second))
	}
	return ", and the controller that was there until now did not find that"
}

// Compared reports whether this machine's clock was compared with the API server's, or cannot be (see [Breaker.Overdue]).
func (b *Breaker) Compared() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.history.compared || b.refused != ""
}

// overdue is how late something may be done that was due while the controller was there.
const overdue = 5 * time.Minute
