package termination

import (
	"net/http"
	"strings"
)

// AnswerAtOnce makes a client return refused evictions at once. To some refusals the
// API server adds when to try again (Retry-After: 10, for a budget that has not been
// computed since it changed). The client would wait that long, up to ten times, and
// delay the node's other pods and its deadline. The drain itself tries again.
func AnswerAtOnce(next http.RoundTripper) http.RoundTripper { return atOnce{next} }

type atOnce struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (a atOnce) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := a.RoundTripper.RoundTrip(req)
	if err == nil && req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/eviction") {
		res.Header.Del("Retry-After")
	}
	return res, err
}
