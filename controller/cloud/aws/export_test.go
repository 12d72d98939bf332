package aws

import (
	"testing"

	"spokeshave.dev/controller/cloud/aws/fleet"
)

// Together makes the claims of a group that are launched from now on share requests, and the
// next n instances that are looked at, or ended, share a call, however long a busy machine
// takes to ask for them. What it returns ends that.
func (p *Provider) Together(t testing.TB, n int) (undo func()) {
	undoGroups, undoCalls := fleet.Expect(t, p.launcher), p.instances.Expect(t, n)
	return func() { undoGroups(); undoCalls() }
}
