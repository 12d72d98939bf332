package load

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"spokeshave.dev/controller/policy"
)

// StatusName is the ConfigMap in the controller's namespace that holds every
// policy's Status as JSON, by namespace.name.
const StatusName = "spokeshave-policy-status"

// State is what became of a policy.
type State string

// The states.
const (
	Active State = "Active"
	Shadow State = "Shadow"
	// Rejected: the latest revision cannot be used. Hash then names the last
	// good version, which stays in force; it is empty when there is none.
	Rejected State = "Rejected"
	// Tripped: the policy failed several times in a row and is not asked for
	// a while; its failure policy applies.
	Tripped State = "Tripped"
)

// Status is what there is to say of a policy.
type Status struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	State     State     `json:"state"`
	Reason    string    `json:"reason,omitempty"`
	Since     time.Time `json:"since"`
	Hash      string    `json:"hash,omitempty"`
	// Revision is the hash of the contents judged last, of which state and
	// reason speak.
	Revision string        `json:"revision,omitempty"`
	Engine   string        `json:"engine,omitempty"`
	Hooks    []policy.Hook `json:"hooks,omitempty"`
	policy.Stats
}

// set changes the state, keeping since while neither state nor reason change.
func (s *Status) set(state State, reason string, now time.Time) {
	if s.State != state || s.Reason != reason {
		s.Since = now.UTC()
	}
	s.State, s.Reason = state, reason
}

// trip notes when the breaker opens and closes, as far as anybody looks.
func (e *entry) trip(open bool, now time.Time) {
	switch {
	case open && e.tripped.IsZero():
		e.tripped = now.UTC()
	case !open && !e.tripped.IsZero():
		e.tripped = time.Time{}
		if e.status.State != Rejected {
			e.status.Since = now.UTC()
		}
	}
}

// Status lists every policy known, by namespace and name.
func (l *Loader) Status() []Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Status, 0, len(l.entries))
	for _, e := range l.entries {
		s := e.status
		if e.good != nil {
			s.Stats = e.good.Stats()
			e.trip(s.Tripped, l.cfg.Now())
			s.Since = e.status.Since
			if s.Tripped && s.State != Rejected {
				s.State, s.Reason, s.Since = Tripped, s.LastFault, e.tripped
			}
		}
		if s.State != "" {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b Status) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return out
}
