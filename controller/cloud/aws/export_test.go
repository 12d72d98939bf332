package aws

import "testing"

// Together makes the claims of a group that are launched from now on share requests, and the
// next n instances that are looked at, or ended, share a call, however long a busy machine
// takes to ask for them. What it returns ends that.
func (p *Provider) Together(t testing.TB, n int) (undo func()) {
	undoGroups, undoCalls := p.launcher.Expect(t), p.instances.Expect(t, n)
	return func() { undoGroups(); undoCalls() }
}
