// Package providertest is the conformance suite for providers: what every
// implementation of provider.Provider must do for any cloud. It runs on provider/sim,
// and on provider/aws over an EC2 endpoint.
//
// A test supplies a Harness: the provider, and functions that cause faults in its
// cloud. A function that a cloud cannot support is nil; the cases that need it are
// skipped with a message.
//
// How an implementation calls its cloud is tested in the implementation's own package.
package providertest

import (
	"testing"
	"time"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// Harness is a new provider on a new cloud.
type Harness struct {
	Provider provider.Provider
	// NodeClass names a class that is ready, with at least two on-demand and
	// one spot offering.
	NodeClass string
	// UnknownID is a well-formed provider ID that no instance has.
	UnknownID string
	// Advance moves the clock of the cloud and of the provider.
	Advance func(time.Duration)

	// SellOut makes offerings out of stock; Restock makes them available again.
	SellOut func(testing.TB, ...model.Option)
	Restock func(testing.TB, ...model.Option)
	// LoseLaunch makes the next launch take effect while its answer is lost.
	LoseLaunch func(testing.TB)
	// Lag makes reads return the state of d ago.
	Lag func(testing.TB, time.Duration)
	// Living returns the claims of the instances that are neither terminated nor
	// shutting down, one entry per instance, read directly from the cloud.
	Living func(testing.TB) []string
}

// Run runs the suite. Each case gets a new Harness.
func Run(t *testing.T, fresh func(*testing.T) Harness) {
	t.Helper()
	cases := map[string]struct {
		reason string
		needs  func(*Harness) bool
		run    func(*testing.T, *Harness)
	}{
		"Catalog":          {reason: "a class has types with prices; an unknown class is an error", run: testCatalog},
		"Launch":           {reason: "the best option is launched and found again", run: testLaunch},
		"PrepareSame":      {reason: "the same spec gives the same attempt, another ordinal another one", run: testPrepareSame},
		"PrepareRefuses":   {reason: "a spec that cannot work is refused before anything is started", run: testPrepareRefuses},
		"Replay":           {reason: "an attempt launched twice is one instance, also when read back from JSON", run: testReplay},
		"ReplayAtOnce":     {reason: "an attempt launched by several callers at once is one instance", run: testReplayAtOnce},
		"LostAnswer":       {reason: "a launch whose answer is lost is repeated, not doubled", needs: func(h *Harness) bool { return h.LoseLaunch != nil }, run: testLostAnswer},
		"OverContext":      {reason: "a cancelled call is not taken for a definitive failure", run: testOverContext},
		"NextOption":       {reason: "a sold-out option makes way for the next", needs: canSellOut, run: testNextOption},
		"SoldOut":          {reason: "all options sold out is InsufficientCapacity, names them and marks the catalogue for a while", needs: canSellOut, run: testSoldOut},
		"OneCapacityType":  {reason: "a request keeps to the capacity type of its first option", needs: canSellOut, run: testOneCapacityType},
		"Spot":             {reason: "spot options start spot instances", run: testSpot},
		"Terminate":        {reason: "an ended instance goes away, once", run: testTerminate},
		"Tag":              {reason: "tags are added and replaced", run: testTag},
		"Unknown":          {reason: "unknown instances are NotFound everywhere", run: testUnknown},
		"Lag":              {reason: "a launched instance is never reported missing, however far reads trail", needs: func(h *Harness) bool { return h.Lag != nil }, run: testLag},
		"ManyInstances":    {reason: "a list holds every instance once, also beyond one page", run: testManyInstances},
		"ListIsEmptyFirst": {reason: "a new cloud has no instances", run: testListIsEmptyFirst},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := fresh(t)
			if c.needs != nil && !c.needs(&h) {
				t.Skipf("%s: this cloud has no lever for it", c.reason)
			}
			t.Log(c.reason)
			c.run(t, &h)
		})
	}
}

func canSellOut(h *Harness) bool { return h.SellOut != nil && h.Restock != nil }
