package aws_test

import (
	"testing"

	"spokeshave.dev/test/kit/parallel"
)

// TestMain runs tests in parallel: those of the matrices mostly wait for the next try of a call.
func TestMain(m *testing.M) { parallel.Run(m, 12) }
