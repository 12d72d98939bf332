package load

import (
	"cmp"
	"slices"
	"strings"
	"time"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/policy"
)

// StatusName is the ConfigMap in the controller's namespace that holds the Status of
// every policy as JSON, by namespace.name.
const StatusName = "spokeshave-policy-status"

// trip updates the status when the breaker is observed to open or close.
func (e *entry) trip(open bool, now time.Time) {
	switch {
	case open && e.trippedAt.IsZero():
		e.trippedAt = now.UTC()
	case !open && !e.trippedAt.IsZero():
		e.trippedAt = time.Time{}
		if e.status.State != policy.StateRejected {
			e.status.Since = now.UTC()
		}
	}
}

// Status returns the status of every policy, sorted by namespace and name.
func (l *Loader) Status() []policy.Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]policy.Status, 0, len(l.entries))
	for _, e := range l.entries {
		s := e.status
		if e.inForce != nil {
			s.Stats = e.inForce.Stats()
			e.trip(s.Tripped, l.cfg.Now())
			s.Since = e.status.Since
			if s.Tripped && s.State != policy.StateRejected {
				s.State, s.Reason, s.Since = policy.StateTripped, s.LastFault, e.trippedAt
			}
		}
		if !e.suspended.IsZero() {
			s.State, s.Reason = policy.StateSuspended, "not asked until "+e.suspended.Format(time.RFC3339)+", by annotation "+karpv1.AnnotationSuspendedUntil
		}
		if s.State != "" {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b policy.Status) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return out
}
