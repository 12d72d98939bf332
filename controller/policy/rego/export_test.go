package rego

import (
	"time"

	"spokeshave.dev/controller/core/policy"
)

// Unhurried gives the calls of a policy a minute each, for tests of what it answers: a busy
// machine, or the race detector, takes longer than users may wait.
func Unhurried(p policy.Compiled) policy.Compiled {
	p.(*Policy).deadline = time.Minute //nolint:forcetypeassert // the engine makes no other
	return p
}
