package operation

import (
	"time"

	"spokeshave.dev/simulator/query"
)

// Call is one request to an operation, after its service, action and parameters
// are read and before it is answered.
type Call struct {
	// Now is when the operation is carried out.
	Now time.Time
	// ID is the request ID that the answer carries.
	ID string
	// Service and Region are those of the credential scope: ec2, us-west-2.
	Service string
	Region  string
	// AccessKey is that of the credentials, which are not verified.
	AccessKey string
	// Action is the operation's name, such as CreateFleet.
	Action string
	// Form holds the parameters of the query protocols, nil for the others.
	Form *query.Form
	// Body is the request's, which holds the parameters of the JSON protocols.
	Body []byte
	// Path is the part of the URL that the REST protocols have parameters in.
	Path []string
	// DryRun is true when the request is to be checked and not carried out.
	DryRun bool
	// Wait is how long an operation that found nothing wants to be asked again
	// when something arrives; 0 answers at once.
	Wait time.Duration
}

// Operation answers one action. It is called by one goroutine at a time.
type Operation func(*Call) (any, error)
