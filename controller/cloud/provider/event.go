package provider

import (
	"context"
	"time"
)

// EventKind is the kind of an event about an instance.
type EventKind string

// The kinds of event, under the names that Karpenter's metrics use.
const (
	SpotInterrupted     EventKind = "spot_interrupted"
	RebalanceRecommend  EventKind = "rebalance_recommendation"
	ScheduledChange     EventKind = "scheduled_change"
	InstanceStopped     EventKind = "instance_stopped"
	InstanceTerminated  EventKind = "instance_terminated"
	ReservationReclaims EventKind = "capacity_reservation_interrupted"
	// ReservationEnds is a capacity block near its end, found by polling.
	ReservationEnds EventKind = "capacity_block_ending"
	// InstanceStatus and SystemStatus are failed status checks, found by polling.
	InstanceStatus EventKind = "instance_status"
	SystemStatus   EventKind = "system_status"
	// EventStatus is a scheduled event of the instance, found by polling.
	EventStatus EventKind = "event_status"
	// NoOp is a well-formed message that does not concern an instance.
	NoOp EventKind = "no_op"
)

// Drains reports whether the node should be drained and replaced.
func (k EventKind) Drains() bool {
	switch k {
	case SpotInterrupted, ScheduledChange, InstanceStopped, InstanceTerminated, ReservationReclaims, ReservationEnds, EventStatus:
		return true
	case InstanceStatus, SystemStatus, RebalanceRecommend, NoOp:
		return false
	default:
		return false
	}
}

// Forceful reports whether the machine is broken: its node is terminated without
// waiting for a drain, which kubelet could not carry out.
func (k EventKind) Forceful() bool { return k == InstanceStatus || k == SystemStatus }

// Event is one event about one instance.
type Event struct {
	Kind EventKind
	// InstanceID is the cloud's id of the instance, the last part of a provider ID.
	InstanceID string
	// At is when the event was announced, Deadline when it takes effect; zero when not
	// known.
	At       time.Time
	Deadline time.Time
	// Message describes the event for users.
	Message string
}

// EventHandler handles an event. A nil error means that the event is done and is not
// delivered again; after an error it is delivered again. It must be safe for concurrent
// use.
type EventHandler func(ctx context.Context, event Event) error

// Announcer is implemented by providers that report events about instances.
type Announcer interface {
	// ListenForEvents calls handle for events until the context ends, also
	// concurrently. It returns at once when the provider has no source of events.
	ListenForEvents(ctx context.Context, handle EventHandler)
	// Troubled polls for trouble of which no event is sent: instances whose status
	// checks have failed for a while, those with a scheduled event, and those whose
	// capacity block ends soon. The instances may belong to other clusters. Each is
	// reported as long as its trouble lasts.
	Troubled(ctx context.Context) ([]Event, error)
}
