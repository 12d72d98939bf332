package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"spokeshave.dev/controller/kube/remote"
	"spokeshave.dev/controller/rehearse/author"
)

// answerLimit is the largest answer that is read, in bytes: enough for 200 decisions of
// thousands of pods each.
const answerLimit = 256 << 20

// serverVariable is the environment variable that stands in for --server.
const serverVariable = "SPOKESHAVE_SERVER"

// asked says how the controller is reached.
type asked struct {
	server string
	access remote.Access
	leader remote.Leader
}

// askFlags adds the flags of commands that read from the controller. short is the
// one-letter name of the flag for its namespace, "" for none.
func askFlags(c *cobra.Command, a *asked, short string) {
	c.Flags().StringVar(&a.server, "server", "", "where the controller's local port can be reached, such as http://127.0.0.1:8083 (default: the variable "+serverVariable+"; without it, a port is forwarded to the replica that leads)")
	accessFlags(c, &a.access)
	c.Flags().StringVarP(&a.leader.Namespace, "controller-namespace", short, author.Namespace, "namespace of the controller")
	c.Flags().StringVar(&a.leader.Lease, "lease", "spokeshave-leader-election", "the controller's lease, which names the replica that leads")
}

// get reads a path of the controller's local port and decodes the JSON into into.
func (a *asked) get(ctx context.Context, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	server := cmp.Or(a.server, os.Getenv(serverVariable))
	if server == "" {
		var err error
		if server, err = remote.Forward(ctx, a.access, a.leader); err != nil {
			return fmt.Errorf("ask the controller: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(server, "/")+path, nil)
	if err != nil {
		return fmt.Errorf("ask %s: %w", server, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask the controller; is --server where its local port can be reached? %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("ask %s for %s: %s", server, path, resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, answerLimit)).Decode(into); err != nil {
		return fmt.Errorf("read %s of %s: %w", path, server, err)
	}
	return nil
}
