package policy

import "time"

// State is the state of the latest revision of a policy.
type State string

// The states.
const (
	StateActive State = "Active"
	StateShadow State = "Shadow"
	// StateRejected means that the latest revision cannot be used. Hash then names
	// the last good version, which stays in force; it is empty when there is none.
	StateRejected State = "Rejected"
	// StateTripped means that the policy failed several times in a row. It is not
	// asked for a while, and its failure policy applies.
	StateTripped State = "Tripped"
	// StateSuspended means that an annotation of the policy's ConfigMap keeps the
	// policy from being asked for a limited time.
	StateSuspended State = "Suspended"
)

// Status is the state of one policy as the loader reports it.
type Status struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	State     State     `json:"state"`
	Reason    string    `json:"reason,omitempty"`
	Since     time.Time `json:"since"`
	Hash      string    `json:"hash,omitempty"`
	// Revision is the hash of the contents that State and Reason describe.
	Revision string `json:"revision,omitempty"`
	Engine   string `json:"engine,omitempty"`
	Hooks    []Hook `json:"hooks,omitempty"`
	// Scope names the NodePools that the policy may touch, by the administrator's
	// settings; "" for all.
	Scope string `json:"scope,omitempty"`
	Stats
}

// Set changes the state at the time now. Since keeps its value while neither the
// state nor the reason changes.
func (s *Status) Set(state State, reason string, now time.Time) {
	if s.State != state || s.Reason != reason {
		s.Since = now.UTC()
	}
	s.State, s.Reason = state, reason
}
