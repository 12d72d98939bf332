package provider

import (
	"context"
	"time"
)

// EventKind is what a cloud announced about an instance.
type EventKind string

// The kinds of event, under the names that Karpenter's metrics use.
const (
	SpotInterrupted     EventKind = "spot_interrupted"
	RebalanceRecommend  EventKind = "rebalance_recommendation"
	ScheduledChange     EventKind = "scheduled_change"
	InstanceStopped     EventKind = "instance_stopped"
	InstanceTerminated  EventKind = "instance_terminated"
	ReservationReclaims EventKind = "capacity_reservation_interrupted"
	// ReservationEnds is a capacity block near its end, found by asking.
	ReservationEnds EventKind = "capacity_block_ending"
	// InstanceStatus and SystemStatus are failed status checks, found by asking.
	InstanceStatus EventKind = "instance_status"
	SystemStatus   EventKind = "system_status"
	// EventStatus is a scheduled event of the instance, found by asking.
	EventStatus EventKind = "event_status"
	// NoOp is a well-formed message that says nothing about instances.
	NoOp EventKind = "no_op"
)

// Drains says that the node should be drained and replaced.
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

// Forceful says that the machine is broken: its node goes without waiting for a
// drain that kubelet could not carry out.
func (k EventKind) Forceful() bool { return k == InstanceStatus || k == SystemStatus }

// Event is one announcement about one instance.
type Event struct {
	Kind EventKind
	// InstanceID is the cloud's id: the last part of a provider ID.
	InstanceID string
	// At is when it was announced, Deadline when it takes effect; zero when not
	// said.
	At       time.Time
	Deadline time.Time
	// Message is the announcement in words.
	Message string
}

// EventHandler takes an event. A nil error means that it is dealt with and will
// not be delivered again; after an error it comes again. It is safe for
// concurrent use.
type EventHandler func(ctx context.Context, event Event) error

// Announcer is implemented by providers that know of instances in trouble.
type Announcer interface {
	// ListenForEvents hands announcements to handle until the context ends, more
	// than one at the same time. It returns at once when nothing announces any.
	ListenForEvents(ctx context.Context, handle EventHandler)
	// Troubled asks for what nobody announces: instances whose status checks
	// have failed for a while, those with a scheduled event, and those whose
	// capacity block ends soon. They may be of other clusters, and are told of as
	// long as the trouble lasts.
	Troubled(ctx context.Context) ([]Event, error)
}
