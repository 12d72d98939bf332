package sim

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// Codes used in several places.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
const (
	codeInvalidQuery  = "InvalidQueryParameter"
	codeInvalidValue  = "InvalidParameterValue"
	codeCombination   = "InvalidParameterCombination"
	codeMissing       = "MissingParameter"
	codeInternal      = "InternalError"
	codeNoCapacity    = "InsufficientInstanceCapacity"
	codeUnfulfillable = "UnfulfillableCapacity"
)

// APIError is an error as AWS reports it.
type APIError struct {
	// Code is AWS's, such as InvalidInstanceID.NotFound.
	Code    string
	Message string
	// Status is the HTTP status; 0 is the usual one for the code.
	Status int
}

// Error implements error.
func (f *APIError) Error() string { return f.Code + ": " + f.Message }

func failf(code, format string, args ...any) error {
	return &APIError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// failureOf is err as an APIError; anything else is the server's own fault.
func failureOf(err error) *APIError {
	if f, ok := errors.AsType[*APIError](err); ok {
		return f
	}
	return &APIError{Code: codeInternal, Message: err.Error()}
}

// status is the HTTP status of the code: 4xx for what the client can mend, 5xx
// for what it cannot.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
func (f *APIError) status() int {
	if f.Status != 0 {
		return f.Status
	}
	switch f.Code {
	case "AuthFailure":
		return http.StatusUnauthorized
	case "UnauthorizedOperation", "MissingAuthenticationToken", "AccessDenied":
		return http.StatusForbidden
	case "NoSuchEntity", "ResourceNotFoundException":
		return http.StatusNotFound
	case "EntityAlreadyExists", "DeleteConflict", "LimitExceeded":
		return http.StatusConflict
	case "DryRunOperation":
		return http.StatusPreconditionFailed
	case codeInternal, "InternalFailure", codeNoCapacity, "InsufficientCapacity", "InternalServerError", "ServerException":
		return http.StatusInternalServerError
	case "RequestLimitExceeded", "Unavailable", "ServiceUnavailable":
		return http.StatusServiceUnavailable
	default:
		return http.StatusBadRequest
	}
}

// errDryRun says that a dry run would have succeeded.
func errDryRun() error {
	return failf("DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
}

func missing(name string) error {
	return failf(codeMissing, "The request must contain the parameter %s", name)
}

// oneOf checks an enumeration; empty passes.
func oneOf(name, value string, allowed ...string) error {
	if value == "" {
		return nil
	}
	if slices.Contains(allowed, value) {
		return nil
	}
	return failf(codeInvalidValue, "Value (%s) for parameter %s is invalid. Valid values: %v", value, name, allowed)
}
