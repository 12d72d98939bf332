package controlplane

import (
	"os"
	"testing"
)

// DebugEnv names the environment variable that, when set, makes ForTest keep
// the state directory with the logs and say where it is.
const DebugEnv = "SPOKESHAVE_CONTROLPLANE_DEBUG"

// ForTest starts a cluster that ends with the test; full adds
// kube-controller-manager, kube-scheduler and KWOK. Where the programs cannot
// be built the test is skipped, but under CI (the environment variable CI is
// set) it fails.
func ForTest(tb testing.TB, full bool) *Cluster {
	tb.Helper()
	if _, err := Build(tb.Context(), tb.Output()); err != nil {
		if os.Getenv("CI") != "" {
			tb.Fatal(err)
		}
		tb.Skipf("no control plane to test against: %v", err)
	}
	c, err := Start(tb.Context(), Options{Full: full, Log: tb.Output()})
	if err != nil {
		tb.Fatal(err)
	}
	if os.Getenv(DebugEnv) != "" {
		c.ownsDir = false
		tb.Logf("control plane state and logs stay in %s", c.Dir)
	}
	tb.Cleanup(func() {
		if err := c.Stop(); err != nil {
			tb.Error(err)
		}
	})
	return c
}
