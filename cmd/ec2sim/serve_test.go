package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spokeshave.dev/simulator"
	"spokeshave.dev/test/kit/eventually"
)

func TestServe(t *testing.T) {
	// The test chooses a free port, because the command does not report the one it
	// listens on.
	var free net.ListenConfig
	l, err := free.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	c := command()
	c.SetArgs([]string{"--listen", address, "--region", "eu-west-1", "--kubeconfig", "", "--log", "error"})
	ended := make(chan error, 1)
	go func() { ended <- c.ExecuteContext(ctx) }()
	var state simulator.State
	eventually.Ok(t, "the endpoint to answer", func() (string, bool) {
		select {
		case err := <-ended:
			t.Fatalf("ended early: %v", err)
		default:
		}
		answer, err := http.Get("http://" + address + "/_sim/state") //nolint:noctx // a test against loopback
		if err != nil {
			return err.Error(), false
		}
		defer func() { _ = answer.Body.Close() }()
		if err := json.NewDecoder(answer.Body).Decode(&state); err != nil {
			t.Fatal(err)
		}
		return "", true
	})
	if state.Region != "eu-west-1" {
		t.Errorf("serves %s", state.Region)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestBadFlags(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(empty, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"region":         {[]string{"--region", "mars-north-1"}, "mars-north-1"},
		"joiner alone":   {[]string{"--joiner", "--kubeconfig", ""}, "needs --kubeconfig"},
		"bad kubeconfig": {[]string{"--kubeconfig", empty}, empty},
		"no policy":      {[]string{"--iam-policy", empty + ".json"}, "--iam-policy"},
		"bad policy":     {[]string{"--iam-policy", empty}, "read policy"},
		"log level":      {[]string{"--log", "loud"}, "--log"},
		"address":        {[]string{"--listen", "nowhere:x", "--kubeconfig", ""}, "listen on nowhere:x"},
		"argument":       {[]string{"start"}, "start"},
	} {
		t.Run(name, func(t *testing.T) {
			c := command()
			c.SetArgs(tc.args)
			err := c.ExecuteContext(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error about %q", err, tc.want)
			}
		})
	}
}
