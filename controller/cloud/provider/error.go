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
	// InsufficientCapacity: every option was sold out; plan again without the offerings
	// that the error names.
	InsufficientCapacity Kind = "InsufficientCapacity"
	// ClassNotReady: the node class is missing or not resolved.
	ClassNotReady Kind = "ClassNotReady"
	// Quota: an account limit prevents the launch.
	Quota Kind = "Quota"
	// Unauthorized: credentials or permissions are missing.
	Unauthorized Kind = "Unauthorized"
	// Invalid: the request can never succeed as it is.
	Invalid Kind = "Invalid"
	// Stale: the attempt started nothing and never will, because other claims that
	// share its request are gone or the cloud was busy. Prepare another attempt.
	Stale Kind = "Stale"
	// Throttled: repeat the call later, and less often.
	Throttled Kind = "Throttled"
	// Unavailable: a timeout, a lost connection or a fault of the service. It is not
	// known whether the call took effect, so repeat the same call.
	Unavailable Kind = "Unavailable"
)

// Error is a provider's error with its kind.
type Error struct {
	Kind Kind
	// Code is the cloud's own code ("InsufficientInstanceCapacity").
	Code string
	// Offerings are those that were found sold out.
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

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of err. It is Unavailable for an error without one, since the
// call may have taken effect.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Unavailable
}

// Untried reports whether the cloud was not even asked, because other claims that share the
// request are gone: the next attempt has nothing to wait for.
func Untried(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == Stale && e.Code == ""
}

// Definitive reports whether the attempt started nothing and never will.
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
