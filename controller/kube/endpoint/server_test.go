package endpoint

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// start serves on a free port of the loopback address until the test ends, and returns
// host:port.
func start(t *testing.T, s *Server) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

// TestEncrypted: what is served on the network is not readable on the way.
func TestEncrypted(t *testing.T) {
	at := start(t, &Server{Name: "test", Handler: http.HandlerFunc(hello), TLS: true})
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // self-signed
	t.Cleanup(client.CloseIdleConnections)
	if body := read(t, client, "https://"+at); body != "hello" {
		t.Errorf("by HTTPS: %q", body)
	}
	if body := read(t, http.DefaultClient, "http://"+at); body == "hello" {
		t.Error("by HTTP, too")
	}
}

func read(t *testing.T, client *http.Client, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestAnswersAtOnce: readers that read nothing take a bounded number of places, and
// whoever comes after them is told so at once.
func TestAnswersAtOnce(t *testing.T) {
	enter, leave := make(chan struct{}), make(chan struct{})
	h := atMost(answersAtOnce, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		enter <- struct{}{}
		<-leave
	}))
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	for range answersAtOnce {
		go h.ServeHTTP(httptest.NewRecorder(), r)
		<-enter
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("one more: %d", w.Code)
	}
	close(leave)
}

// TestSilentClients: somebody who connects and says nothing, or never ends the header, is
// cut off by the server.
func TestSilentClients(t *testing.T) {
	at := start(t, &Server{Name: "test", Handler: http.HandlerFunc(hello)})
	for name, text := range map[string]string{
		"nothing":       "",
		"half a header": "GET / HTTP/1.1\r\nHost: localhost\r\n",
		"huge header":   "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 2*headerBytes+8<<10) + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", at)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			_, _ = io.WriteString(conn, text) // the server may end it before all is written
			if err := conn.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(conn)
			if e := net.Error(nil); errors.As(err, &e) && e.Timeout() {
				t.Errorf("still connected: %v", err)
			}
			if strings.Contains(string(got), "hello") {
				t.Errorf("answered: %q", got)
			}
		})
	}
}

func TestLocal(t *testing.T) {
	for host, code := range map[string]int{
		"localhost": 200, "localhost:8083": 200, "127.0.0.1:1": 200, "[::1]:8083": 200,
		"evil.example": 403, "evil.example:8083": 403, "10.0.0.1:8083": 403, "127.0.0.1.evil.example": 403,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.Host = host
		w := httptest.NewRecorder()
		Local(http.HandlerFunc(hello)).ServeHTTP(w, r)
		if w.Code != code {
			t.Errorf("%s: %d, want %d", host, w.Code, code)
		}
	}
	for address, want := range map[string]bool{"127.0.0.1:1": true, "[::1]:1": true, "localhost:1": true, ":1": false, "0.0.0.0:1": false, "10.0.0.1:1": false, "no port": false} {
		if IsLoopback(address) != want {
			t.Errorf("IsLoopback(%s) = %v", address, !want)
		}
	}
}
