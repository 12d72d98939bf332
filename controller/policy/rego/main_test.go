package rego

import (
	"os"
	"testing"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/isolate"
)

// TestMain makes this test binary the process in which policies run.
func TestMain(m *testing.M) {
	isolate.Child(func(b *isolate.Build) policy.Engine {
		return &Engine{Stage: b.Stage, Serving: !b.Trial, Notes: b.Notes}
	}, nil)
	os.Exit(m.Run())
}
