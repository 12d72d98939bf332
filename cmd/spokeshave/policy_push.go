package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"spokeshave.dev/controller/kube/remote"
	"spokeshave.dev/controller/rehearse/author"
)

const pushHelp = `Push packs a policy, sends it to the cluster of your kubeconfig by server-side
apply, and waits until the controller has judged it. It prints whether the
policy is in force, or why it is not.

Exit codes: 0 in force (or sent, with --wait 0), 1 rejected, here or by the
controller, 2 bad input, no cluster, or no word from a controller in time.`

type pushFlags struct {
	naming              author.Naming
	access              remote.Access
	controllerNamespace string
	wait                time.Duration
	force               bool
	output              string
}

// pushed is the result of a push, as JSON.
type pushed struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// State is the state that the controller reports, "" when the command did not wait
	// for it.
	State string `json:"state,omitempty"`
	Size  int    `json:"size"`
	Hash  string `json:"hash"`
}

func pushCommand(ctx context.Context) *cobra.Command {
	var f pushFlags
	c := &cobra.Command{
		Use:   "push PATH",
		Short: "Send a policy to the cluster and wait until it is in force",
		Long:  pushHelp,
		Example: `  spokeshave policy push examples/wasm-rank-go --name avoid-family
  spokeshave policy push policies/keep-protected --namespace team-a --wait 10s`,
		Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(ctx, c, args[0]) },
	}
	outputFlag(c, &f.output, "text", "json")
	namingFlags(c, &f.naming)
	accessFlags(c, &f.access)
	controllerNamespaceFlag(c, &f.controllerNamespace)
	c.Flags().DurationVar(&f.wait, "wait", 30*time.Second, "how long to wait for the controller's verdict; 0 for not at all")
	c.Flags().BoolVar(&f.force, "force-conflicts", false, "take over fields that something else has set")
	return c
}

func accessFlags(c *cobra.Command, a *remote.Access) {
	c.Flags().StringVar(&a.Kubeconfig, "kubeconfig", "", "kubeconfig file (default: KUBECONFIG, else the one in your home folder)")
	c.Flags().StringVar(&a.Context, "context", "", "context of the kubeconfig (default: the current one)")
}

func (f *pushFlags) run(ctx context.Context, c *cobra.Command, path string) error {
	s, found, err := vetted(ctx, "push", path, f.controllerNamespace, f.naming)
	if err != nil {
		return err
	}
	cluster, err := remote.Connect(f.access, f.controllerNamespace)
	if err != nil {
		return unread("push", err)
	}
	if err := cluster.Apply(ctx, s.ConfigMap, &f.force); err != nil {
		return unread("push", err)
	}
	name := s.ConfigMap.Namespace + "/" + s.Name()
	out := pushed{Namespace: s.ConfigMap.Namespace, Name: s.Name(), Size: found.Size, Hash: found.Hash}
	if f.wait <= 0 {
		if f.output == "json" {
			return writeJSON(c.OutOrStdout(), out)
		}
		say(c.OutOrStdout(), "%s: sent, %d bytes, %.12s", name, found.Size, found.Hash)
		return nil
	}
	status, err := cluster.Await(ctx, s.ConfigMap, f.wait)
	if err != nil {
		return unread("push", err)
	}
	if status.Hash != found.Hash {
		return badPolicy(fmt.Errorf("%s: %s: %s", name, status.State, status.Reason))
	}
	if out.State = string(status.State); f.output == "json" {
		return writeJSON(c.OutOrStdout(), out)
	}
	say(c.OutOrStdout(), "%s: %s, %d bytes, %.12s", name, status.State, found.Size, found.Hash)
	return nil
}
