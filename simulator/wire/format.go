package wire

import (
	"net/http"

	"spokeshave.dev/simulator/awserr"
)

// ID is what an answer repeats of its request.
type ID struct {
	// Request is the request ID, Action the operation's name.
	Request, Action string
}

// Format is one of AWS's wire formats.
type Format interface {
	// Answer writes the result of a call that succeeded.
	Answer(w http.ResponseWriter, id ID, result any)
	// Refuse writes an error with its HTTP status.
	Refuse(w http.ResponseWriter, id ID, f *awserr.Error)
}
