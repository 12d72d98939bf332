package attack

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"time"
)

// stranger is somebody who reaches the controller's ports. It trusts any certificate, as
// an attacker does.
var stranger = &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}} //nolint:gosec // see above

// get asks for a URL and returns the status, 0 when there was no HTTP answer, and what came.
func get(ctx context.Context, where, host, token string) (int, string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, where, http.NoBody)
	if err != nil {
		return 0, err.Error()
	}
	req.Host = host
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return do(req)
}

// do sends a request and returns the status, 0 when there was no HTTP answer, and what came.
func do(req *http.Request) (int, string) {
	resp, err := stranger.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(body)
}
