package load

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/policy"
)

// maxSuspension is the longest time for which one annotation suspends a policy.
const maxSuspension = 24 * time.Hour

// Suspension returns until when the annotation of a policy's ConfigMap suspends the
// policy at the time now, and the zero time when it does not. An error says why the
// annotation is not obeyed: it is no RFC 3339 time, or it is more than 24 hours ahead.
func Suspension(cm *corev1.ConfigMap, now time.Time) (time.Time, error) {
	text, ok := cm.Annotations[karpv1.AnnotationSuspendedUntil]
	if !ok {
		return time.Time{}, nil
	}
	until, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil:
		return time.Time{}, fmt.Errorf("annotation %s: %q is not a time like %s: the policy is not suspended",
			karpv1.AnnotationSuspendedUntil, text, now.Add(time.Hour).UTC().Format(time.RFC3339))
	case until.Sub(now) > maxSuspension:
		return time.Time{}, fmt.Errorf("annotation %s: %s is more than %s ahead: the policy is not suspended",
			karpv1.AnnotationSuspendedUntil, text, maxSuspension)
	case !until.After(now):
		return time.Time{}, nil
	}
	return until.UTC(), nil
}

// Suspend stops asking a policy, whether or not a version of it loads, until Suspend is
// called again with the zero time. until is what the status says. It reports whether
// that began or ended a suspension.
func (l *Loader) Suspend(key Key, until time.Time) (changed bool) {
	e := l.entry(key)
	l.mu.Lock()
	defer l.mu.Unlock()
	changed = e.suspended.IsZero() != until.IsZero()
	e.suspended = until
	if changed {
		l.publish()
	}
	return changed
}

// Suspended returns the suspended policies, sorted by namespace and name.
func (l *Loader) Suspended() []policy.Suspension {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []policy.Suspension
	for key, e := range l.entries {
		if !e.suspended.IsZero() {
			out = append(out, policy.Suspension{Namespace: key.Namespace, Name: key.Name, Until: e.suspended.UTC()})
		}
	}
	slices.SortFunc(out, func(a, b policy.Suspension) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}
