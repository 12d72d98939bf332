package client

import (
	"io"
	"net/http"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
)

// plainBodies sends requests with bodies that can only be read.
//
// The SDK closes a request's body as soon as it has the answer, and its body's
// WriteTo reports EOF as an error from then on (smithy-go 1.28). An endpoint
// near enough answers while net/http is still making sure, through WriteTo,
// that the body has ended; net/http then takes the request for broken and cuts
// the connection under the answer. Read reports the end as it should.
type plainBodies struct{ inner sdk.HTTPClient }

// Do implements aws.HTTPClient.
func (c plainBodies) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = readCloser{r.Body}
	}
	return c.inner.Do(r)
}

// readCloser hides every method but those of io.ReadCloser.
type readCloser struct{ io.ReadCloser }
