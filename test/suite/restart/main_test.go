package restart_test

import (
	"testing"

	"spokeshave.dev/test/kit/parallel"
)

// TestMain runs tests in parallel: each has a control plane of its own, and mostly waits for it.
func TestMain(m *testing.M) { parallel.Run(m, 4) }
