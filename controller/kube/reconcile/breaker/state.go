package breaker

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// keyState is the entry of the ConfigMap with the state, as JSON.
const keyState = "state"

// state is what outlives the controller.
type state struct {
	// Seen is when a controller last saw this API server, to two minutes.
	Seen time.Time `json:"seen"`
	// Launched is when the newest instance was launched that a controller had seen by then,
	// by EC2's clock. Nothing was launched later in the history that the API server knows.
	// Zero when no instance was seen, or by a version that did not write it.
	Launched time.Time `json:"launched,omitzero"`
	// Listed says that the instances were listed by then: a zero Launched means that there
	// was none.
	Listed bool `json:"listed,omitempty"`
	// Restored is when a replica found last that the API server went back in time: watches that
	// began before cannot be trusted, and a ledger that does not name it may be an old one.
	Restored time.Time `json:"restored,omitzero"`
	// Stopped are the reasons of what is stopped: by kind, or by kind and NodePool with
	// a slash between.
	Stopped map[string]string `json:"stopped,omitempty"`
	// Pools are the inputs of drift, by NodePool.
	Pools map[string]Inputs `json:"pools,omitempty"`

	// changed says that something other than Seen was not written yet.
	changed bool
}

func (s *state) stop(key, reason string) {
	if s.Stopped == nil {
		s.Stopped = map[string]string{}
	}
	s.Stopped[key] = reason
	s.changed = true
}

// count returns how much of a kind is stopped.
func (s *state) count(kind Kind) int {
	n := 0
	for key := range s.Stopped {
		if kindOf(key) == kind {
			n++
		}
	}
	return n
}

// knowsLaunched reports whether Launched bounds the launches that the state knows.
func (s *state) knowsLaunched() bool { return s.Listed || !s.Launched.IsZero() }

func entry(kind Kind, pool string) string {
	if pool == "" {
		return string(kind)
	}
	return string(kind) + "/" + pool
}

func kindOf(key string) Kind {
	kind, _, _ := strings.Cut(key, "/")
	return Kind(kind)
}

// decode reads the state of a ConfigMap. One that cannot be read is an empty one, and so is
// one that cannot be written again: JSON reads a time of the zone +24:00.
func decode(cm *corev1.ConfigMap) state {
	var out state
	if cm == nil || json.Unmarshal([]byte(cm.Data[keyState]), &out) != nil {
		return state{}
	}
	if _, err := out.encode(); err != nil {
		return state{}
	}
	return out
}

func (s *state) encode() (map[string]string, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode state: %w", err)
	}
	return map[string]string{keyState: string(text)}, nil
}
