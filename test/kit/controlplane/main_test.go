package controlplane

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// childEnv makes this test binary play another program that starts a cluster:
// its value is "attached" or "detached", dirEnv names the state directory.
const (
	childEnv = "SPOKESHAVE_CONTROLPLANE_TEST_CHILD"
	dirEnv   = "SPOKESHAVE_CONTROLPLANE_TEST_DIR"
)

func TestMain(m *testing.M) {
	mode := os.Getenv(childEnv)
	if mode == "" {
		os.Exit(m.Run())
	}
	//nolint:forbidigo // this is a main function, not a test
	_, err := Start(context.Background(), Options{Dir: os.Getenv(dirEnv), Detached: mode == "detached"})
	if err != nil {
		_, _ = fmt.Fprintln(os.Stdout, err)
		os.Exit(1)
	}
	_, _ = fmt.Fprintln(os.Stdout, "ready")
	if mode == "attached" {
		select {} // until killed
	}
}
