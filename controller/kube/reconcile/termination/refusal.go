package termination

import (
	"net/http"
	"strings"
)

// AnswerAtOnce makes a client pass refused evictions on. The API server says of some
// when to ask again (Retry-After: 10, of a budget that nobody has counted since it
// changed), and the client would wait that long, ten times over, while other pods of
// the node and its deadline wait as well. A drain asks again by itself.
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
