// Package portforward is the part of a kubelet that the control plane of the tests
// lacks: it forwards connections to a pod's port, as kubectl port-forward asks for.
package portforward

import (
	"context"
	"io"
	"net"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// Handler answers a request to forward ports with streams to target, host:port,
// whatever the port is. asked is told the port of every stream; nil for nobody. A
// request's streams end with its context.
func Handler(target string, asked func(port string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := httpstream.Handshake(r, w, []string{"portforward.k8s.io"}); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		ctx := r.Context()
		spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
			if s.Headers().Get(corev1.StreamType) == corev1.StreamTypeData {
				if asked != nil {
					asked(s.Headers().Get(corev1.PortHeader))
				}
				go pipe(ctx, s, target)
			}
			return nil
		})
		<-ctx.Done()
	})
}

// pipe copies between a stream and the target until either ends.
func pipe(ctx context.Context, s httpstream.Stream, target string) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", target)
	if err != nil {
		return
	}
	go func() { _, _ = io.Copy(conn, s) }()
	_, _ = io.Copy(s, conn)
	_ = s.Close()
}
