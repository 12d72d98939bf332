package provider

import (
	"errors"
	"fmt"

	"spokeshave.dev/controller/core/model"
)

// Kind classifies a provider's error by what the caller can do about it.
type Kind string

// The kinds.
const (
	// NotFound: the instance (or what was named) does not exist.
	NotFound Kind = "NotFound"
	// InsufficientCapacity: every option was sold out; solve again without
	// the offerings named.
	InsufficientCapacity Kind = "InsufficientCapacity"
	// ClassNotReady: the node class is missing or not resolved.
	ClassNotReady Kind = "ClassNotReady"
	// Quota: an account limit stands in the way.
	Quota Kind = "Quota"
	// Unauthorized: credentials or permissions.
	Unauthorized Kind = "Unauthorized"
	// Invalid: the request can never succeed as it is.
	Invalid Kind = "Invalid"
	// Stale: the attempt started nothing and never will, since others that share its
	// request have gone or the cloud was busy; prepare another one.
	Stale Kind = "Stale"
	// Throttled: ask again later, more slowly.
	Throttled Kind = "Throttled"
	// Unavailable: a timeout, a lost connection or a fault of the service;
	// whether the call took effect is unknown, so repeat the same one.
	Unavailable Kind = "Unavailable"
)

// Error is a provider's error with its kind.
type Error struct {
	Kind Kind
	// Code is the cloud's own code ("InsufficientInstanceCapacity").
	Code string
	// Offerings are those found sold out.
	Offerings []model.Option
	Err       error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Code != "" {
		return fmt.Sprintf("%s (%s): %v", e.Kind, e.Code, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Kind, e.Err)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf is the kind of err, or Unavailable when it has none: an unknown error
// may have taken effect.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Unavailable
}

// Definitive says that the attempt started nothing and never will.
func (k Kind) Definitive() bool {
	switch k {
	case InsufficientCapacity, Quota, Unauthorized, Invalid, ClassNotReady, NotFound, Stale:
		return true
	case Throttled, Unavailable:
		return false
	default:
		return false
	}
}
