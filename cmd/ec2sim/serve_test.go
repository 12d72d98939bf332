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

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"spokeshave.dev/simulator"
	"spokeshave.dev/test/kit/eventually"
)

// serving runs the command on a free port until the test ends, and returns the port's address.
func serving(t *testing.T, args ...string) string {
	t.Helper()
	// The test chooses the port, because the command does not report the one it listens on.
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
	c := command()
	c.SetArgs(append([]string{"--listen", address, "--kubeconfig", "", "--log", "error"}, args...))
	ended := make(chan error, 1)
	go func() { ended <- c.ExecuteContext(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	eventually.Ok(t, "the endpoint to answer", func() (string, bool) {
		answer, err := http.Get("http://" + address + "/_sim/state") //nolint:noctx // a test against loopback
		if err != nil {
			return err.Error(), false
		}
		return "", answer.Body.Close() == nil
	})
	return address
}

func TestServe(t *testing.T) {
	answer, err := http.Get("http://" + serving(t, "--region", "eu-west-1") + "/_sim/state") //nolint:noctx // a test against loopback
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var state simulator.State
	if err := json.NewDecoder(answer.Body).Decode(&state); err != nil || state.Region != "eu-west-1" {
		t.Errorf("serves %s: %v", state.Region, err)
	}
}

// TestServeUnderPolicy: the policy of the examples holds as it is in the repository, with its
// variables; it allows what concerns the cluster, and nothing of another one.
func TestServeUnderPolicy(t *testing.T) {
	address := serving(t, "--region", "eu-west-1", "--cluster-name", "mine", "--account", "111122223333", "--iam-policy", "../../examples/iam/controller-policy.json")
	clusters := eks.New(eks.Options{Region: "eu-west-1", BaseEndpoint: aws.String("http://" + address), Credentials: credentials.NewStaticCredentialsProvider("any", "any", "")})
	for cluster, allowed := range map[string]bool{"mine": true, "another": false} {
		_, err := clusters.DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: &cluster})
		if err != nil && !strings.Contains(err.Error(), "arn:aws:sts::111122223333:") {
			t.Errorf("the refusal names another account: %v", err)
		}
		if refused := err != nil && strings.Contains(err.Error(), "AccessDenied"); refused == allowed {
			t.Errorf("%s: %v; want it allowed: %t", cluster, err, allowed)
		}
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
