package lifecycle

import (
	"errors"
	"strings"
	"testing"
	"time"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/cloud/sim"
	"spokeshave.dev/controller/core/model"
)

func denied() error {
	return &provider.Error{Kind: provider.Unauthorized, Code: "UnauthorizedOperation", Err: errors.New("you may not run instances")}
}

// overQuota: a quota that is used up is treated like offerings that are sold out, so that
// the next decision falls back to others.
func overQuota(t *testing.T, w *launchingCluster) {
	before := w.disrupted(t, "insufficient_capacity")
	w.cloud.Fail(sim.CallLaunch, &provider.Error{Kind: provider.Quota, Code: "MaxSpotInstanceCountExceeded", Offerings: []model.Option{{InstanceType: "m5.large", Zone: "us-west-2a", CapacityType: model.Spot}}, Err: errors.New("you have used your spot vCPUs")})
	w.claim(t, "over-quota", option("m5.large"))
	w.told(t, "over-quota", karpv1.EventInsufficientCapacityError, "spot vCPUs")
	w.eventually(t, "the claim to go", func() bool { return w.getClaim(t, "over-quota") == nil })
	w.countedOnce(t, "insufficient_capacity", before)
}

// launchTimeout: what only a person can mend keeps a claim for five minutes. Then the
// claim is given up, and its NodePool rests.
func launchTimeout(t *testing.T, w *launchingCluster) {
	before := w.disrupted(t, "launch_timeout")
	for range 3 {
		w.cloud.Fail(sim.CallLaunch, denied())
	}
	w.claim(t, "denied", option("m5.large"))
	w.told(t, "denied", "LaunchFailed", "you may not run instances")
	if w.getClaim(t, "denied") == nil {
		t.Fatal("the claim is given up at once")
	}
	restore := w.later(5 * time.Minute)
	w.eventually(t, "the claim to go", func() bool { return w.getClaim(t, "denied") == nil })
	restore()
	w.told(t, "denied", karpv1.EventLaunchTimeout, "you may not run instances")
	if n := w.living("denied"); n != 0 {
		t.Errorf("%d instances run", n)
	}
	w.countedOnce(t, "launch_timeout", before)
	if h := w.outcomes.Health("general", time.Now()); h.PausedUntil.IsZero() || h.Failure.Reason != "LaunchFailed" {
		t.Errorf("the pool's health is %+v, want a pause", h)
	}
	w.outcomes.Forget("general")
	w.claim(t, "allowed", option("m5.large")) // after what is left of the faults
	w.registered(t, "allowed")
	w.eventually(t, "the pool to be healthy after a node has registered", func() bool { // it is counted after the status is written
		h := w.outcomes.Health("general", time.Now())
		return h.Known && h.Healthy && h.PausedUntil.IsZero()
	})
	w.end(t, "allowed")
}

// registrationTimeout: an instance whose node does not join is ended, and counts against
// its NodePool.
func registrationTimeout(t *testing.T, w *launchingCluster) {
	w.outcomes.Forget("general")
	defer w.later(15*time.Minute - 3*time.Second)() // the rest is waited for
	w.claim(t, "silent", option("m5.large"))
	w.told(t, "silent", karpv1.EventRegistrationTimeout)
	w.eventually(t, "the claim and its instance to go", func() bool { return w.getClaim(t, "silent") == nil && w.living("silent") == 0 })
	if h := w.outcomes.Health("general", time.Now()); h.Failure.Reason != "RegistrationFailed" {
		t.Errorf("the pool's health is %+v", h)
	}
	w.outcomes.Forget("general")
}

// countedOnce waits until one more claim than before counts as disrupted for the reason,
// and fails if there are more.
func (w *launchingCluster) countedOnce(t *testing.T, reason string, before float64) {
	t.Helper()
	w.eventually(t, "the claim to be counted", func() bool { return w.disrupted(t, reason) > before })
	if n := w.disrupted(t, reason) - before; n != 1 {
		t.Errorf("%v claims are counted as disrupted for %s", n, reason)
	}
}

// disrupted returns how many claims count as disrupted for the reason.
func (w *launchingCluster) disrupted(t *testing.T, reason string) float64 {
	t.Helper()
	return w.sum(t, "karpenter_nodeclaims_disrupted_total", reason)
}

// later moves the reconcilers' clock, until restore is called.
func (w *launchingCluster) later(by time.Duration) (restore func()) {
	w.ahead.Add(int64(by))
	return func() { w.ahead.Add(-int64(by)) }
}

// fullTimeout: a claim that somebody has filled with annotations, so that the controller cannot
// add its own, does not stay for that.
func fullTimeout(t *testing.T, w *launchingCluster) {
	full := w.claimFor(t, "full")
	full.Annotations = map[string]string{"example.com/notes": strings.Repeat("a", 256<<10-len("example.com/notes"))}
	w.create(t, full)
	w.eventually(t, "the claim to wait for a decision", func() bool {
		c := w.getClaim(t, "full")
		return c != nil && len(c.Finalizers) > 0 && len(c.Status.Conditions) > 0
	})
	restore := w.later(5 * time.Minute)
	defer restore()
	w.eventually(t, "the claim to go", func() bool { return w.getClaim(t, "full") == nil })
}
