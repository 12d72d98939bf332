package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"spokeshave.dev/tools/release/registry"
)

// TestRegistry: a release is pushed to the registry to try one with, verified there, and the
// registry ends when it is interrupted. A port in use is an error that says what to do.
func TestRegistry(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir()) // no credentials of whoever runs the test
	ctx, interrupt := context.WithCancel(t.Context())
	said, progress := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serveRegistry(ctx, "127.0.0.1:0", progress) }()
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, at, _ := strings.Cut(line, "REGISTRY=")
	at = strings.TrimSuffix(strings.TrimSpace(at), "/spokeshave")

	o, public := released(t, at)
	if err := push(t.Context(), &registry.Client{Progress: io.Discard}, o.out, trusted{key: public}); err != nil {
		t.Error(err)
	}
	if err := serveRegistry(t.Context(), at, io.Discard); err == nil || !strings.Contains(err.Error(), "another port: --listen") {
		t.Errorf("a port in use: %v", err)
	}
	interrupt()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", at); err == nil {
		_ = c.Close()
		t.Error("the registry answers after its end")
	}
}
