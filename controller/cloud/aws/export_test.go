package aws

import "testing"

// Together makes the next n instances that are looked at, or ended, share a call, however
// long a busy machine takes to ask for them. What it returns ends that.
func (p *Provider) Together(t testing.TB, n int) (undo func()) { return p.instances.Expect(t, n) }
