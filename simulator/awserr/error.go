package awserr

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// Codes used in several places.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
const (
	InvalidQuery       = "InvalidQueryParameter"
	InvalidValue       = "InvalidParameterValue"
	InvalidCombination = "InvalidParameterCombination"
	MissingParameter   = "MissingParameter"
	Internal           = "InternalError"
	NoCapacity         = "InsufficientInstanceCapacity"
	Unfulfillable      = "UnfulfillableCapacity"
	Unauthorized       = "UnauthorizedOperation"
	Throttled          = "RequestLimitExceeded"
)

// Error is an error as AWS reports it.
type Error struct {
	// Code is AWS's, such as InvalidInstanceID.NotFound.
	Code    string
	Message string
	// Status is the HTTP status; 0 is the usual one for the code.
	Status int
}

// Error implements the interface error.
func (f *Error) Error() string { return f.Code + ": " + f.Message }

// New is an error of the code with a formatted message.
func New(code, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Of is err as an Error; anything else is the server's own fault, InternalError.
func Of(err error) *Error {
	if f, ok := errors.AsType[*Error](err); ok {
		return f
	}
	return &Error{Code: Internal, Message: err.Error()}
}

// HTTPStatus is Status, or the usual one for the code: 4xx for what the client
// can mend, 5xx for what it cannot.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
func (f *Error) HTTPStatus() int {
	if f.Status != 0 {
		return f.Status
	}
	switch f.Code {
	case "AuthFailure":
		return http.StatusUnauthorized
	case Unauthorized, "MissingAuthenticationToken", "AccessDenied":
		return http.StatusForbidden
	case "NoSuchEntity", "ResourceNotFoundException":
		return http.StatusNotFound
	case "EntityAlreadyExists", "DeleteConflict", "LimitExceeded":
		return http.StatusConflict
	case "DryRunOperation":
		return http.StatusPreconditionFailed
	case Internal, "InternalFailure", NoCapacity, "InsufficientCapacity", "InternalServerError", "ServerException":
		return http.StatusInternalServerError
	case Throttled, "Unavailable", "ServiceUnavailable":
		return http.StatusServiceUnavailable
	default:
		return http.StatusBadRequest
	}
}

// DryRun says that a dry run would have succeeded.
func DryRun() error {
	return New("DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
}

// Missing says that a required parameter is not there.
func Missing(name string) error {
	return New(MissingParameter, "The request must contain the parameter %s", name)
}

// OneOf checks an enumeration; empty passes.
func OneOf(name, value string, allowed ...string) error {
	if value == "" {
		return nil
	}
	if slices.Contains(allowed, value) {
		return nil
	}
	return New(InvalidValue, "Value (%s) for parameter %s is invalid. Valid values: %v", value, name, allowed)
}
