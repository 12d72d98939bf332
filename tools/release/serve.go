package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	ggcr "github.com/google/go-containerregistry/pkg/registry"
	"github.com/spf13/cobra"
)

func registryCommand() *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use:   "registry",
		Short: "Serve a registry on this machine, to try a release with",
		Long: `Registry serves a registry until it is interrupted. It keeps everything in memory, asks
nobody who they are, and speaks plain HTTP, as Helm's --plain-http and Docker expect of a
registry at 127.0.0.1. It is for trying a release, and for nothing else.`,
		Example: `  release registry
  release registry --listen 127.0.0.1:5001`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return serveRegistry(c.Context(), listen, c.ErrOrStderr())
		},
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:5000", "address and port to listen on; port 0 for any that is free")
	return c
}

// serveRegistry serves an empty registry in memory until the context ends. It writes its
// address to progress when it accepts connections.
func serveRegistry(ctx context.Context, listen string, progress io.Writer) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return fmt.Errorf("serve a registry (another port: --listen): %w", err)
	}
	server := &http.Server{
		Handler:           ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)), ggcr.WithReferrersSupport(true)),
		ReadHeaderTimeout: 10 * time.Second,
	}
	fmt.Fprintf(progress, "registry in memory at %s until Ctrl-C, for REGISTRY=%[1]s/spokeshave\n", listener.Addr())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve a registry: %w", err)
	case <-ctx.Done():
	}
	if err := errors.Join(server.Close(), <-ended); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("end the registry: %w", err)
	}
	return nil
}
