package user

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// kubelet is the one thing that the control plane of the tests lacks: what
// forwards a port to a pod. Every pod's port is the target.
func kubelet(t testing.TB, target string) *net.TCPAddr {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := httpstream.Handshake(r, w, []string{"portforward.k8s.io"}); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		ctx := r.Context()
		spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
			if s.Headers().Get(corev1.StreamType) == corev1.StreamTypeData {
				go pipe(ctx, s, target)
			}
			return nil
		})
		<-ctx.Done()
	}))
	t.Cleanup(server.CloseClientConnections)
	at, ok := server.Listener.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("the kubelet listens on %v", server.Listener.Addr())
	}
	return at
}

func pipe(ctx context.Context, s httpstream.Stream, target string) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", target)
	if err != nil {
		return
	}
	go func() { _, _ = io.Copy(conn, s) }()
	_, _ = io.Copy(s, conn)
	_ = s.Close()
}
