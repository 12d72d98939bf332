package user

import (
	"net"
	"net/http/httptest"
	"testing"

	"spokeshave.dev/test/kit/portforward"
)

// kubelet starts what forwards every port of every pod to the target, and returns
// its address.
func kubelet(t testing.TB, target string) *net.TCPAddr {
	t.Helper()
	server := httptest.NewTLSServer(portforward.Handler(target, nil))
	t.Cleanup(server.CloseClientConnections)
	at, ok := server.Listener.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("the kubelet listens on %v", server.Listener.Addr())
	}
	return at
}
