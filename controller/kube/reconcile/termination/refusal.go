package termination

import (
	"net/http"
	"strings"
)

// WithoutRetryAfter makes a client return refused evictions at once. To some refusals the
// API server adds when to try again (Retry-After: 10, for a budget that has not been
// computed since it changed). The client would wait that long, up to ten times, and
// delay the node's other pods and its deadline. The drain itself tries again.
func WithoutRetryAfter(next http.RoundTripper) http.RoundTripper { return noRetryAfter{next} }

type noRetryAfter struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (a noRetryAfter) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := a.RoundTripper.RoundTrip(req)
	if err == nil && req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/eviction") {
		res.Header.Del("Retry-After")
	}
	return res, err
}
