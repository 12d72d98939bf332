package badobjects

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/policy"
)

// claims counts the NodeClaims that there are.
func (b *bench) claims(t *testing.T) int {
	t.Helper()
	var all karpv1.NodeClaimList
	if err := b.client.List(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	return len(all.Items)
}

// waitsForTheWatch makes a round while watches show no NodeClaims, and wants it to decide nothing before
// they do.
func (b *bench) waitsForTheWatch(t *testing.T) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := b.loop.Round(t.Context())
		done <- err
	}()
	var err error
	select {
	case err = <-done:
		t.Error("the round decided before the watch showed the claims of the one before")
		b.link.watches.Unlock()
	case <-time.After(2 * time.Second): // the API server itself is asked after half a second
		b.link.watches.Unlock()
		err = <-done
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestUnansweredCreation: the connection breaks when the API server has created a claim, or before, and its
// watches lag. The next round decides once it is known whether the claim exists: its pods are
// launched once, and its cost counts.
func TestUnansweredCreation(t *testing.T) {
	for name, carriedOut := range map[string]bool{"carried out": true, "not carried out": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.pod(t, "a", "6")
			b.seen(t, 1)
			if carriedOut {
				b.link.unanswered.Store(1)
			} else {
				b.link.unsent.Store(1)
			}
			b.link.watches.Lock()
			if _, err := b.loop.Round(t.Context()); !errors.Is(err, errLink) {
				t.Fatalf("the round returned %v, want that the connection was lost", err)
			}
			if carriedOut {
				b.waitsForTheWatch(t)
			} else {
				b.link.watches.Unlock()
				b.round(t, 1)
			}
			if n := b.claims(t); n != 1 {
				t.Errorf("%d claims for one pod", n)
			}
			if b.planned(t)["a"] != "general" {
				t.Errorf("planned are %v", b.planned(t))
			}
		})
	}
}

// TestUnseenOptions: a claim made by hand has got its options, answered or not, and watches do not show
// them yet. What they reserve counts in every decision, so the next one waits.
func TestUnseenOptions(t *testing.T) {
	for name, answered := range map[string]bool{"answered": true, "not answered": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if err := b.client.Create(t.Context(), claim("by-hand", "general", small)); err != nil {
				t.Fatal(err)
			}
			b.claimsSeen(t, 1)
			if !answered {
				b.link.unanswered.Store(1)
			}
			b.link.watches.Lock()
			if _, err := b.loop.Round(t.Context()); (err == nil) != answered {
				t.Fatalf("the round returned %v", err)
			}
			b.waitsForTheWatch(t)
			if b.options(t, "by-hand") == "" {
				t.Error("the claim has no options")
			}
		})
	}
}

// slowRefuser needs a second for each launch that it is asked about, and refuses those of an instance
// type.
type slowRefuser struct {
	hooked

	refuses string
	asked   int
	clock   interface{ Step(time.Duration) }
}

// Ceiling implements policy.Policy.
func (p *slowRefuser) Ceiling(_ context.Context, in *policy.CeilingInput) (policy.CeilingAnswer, error) {
	out := policy.CeilingAnswer{Deny: map[int][]string{}}
	for i := range in.Launches {
		p.asked++
		p.clock.Step(time.Second)
		if in.Launches[i].InstanceType == p.refuses {
			out.Deny[i] = []string{"not this one"}
		}
	}
	return out, nil
}

// TestSlowAboutClaims. Actor: somebody who makes many NodeClaims by hand, for each of which a policy
// needs a second before it refuses it. Expected: a round spends two seconds on them, so that pods get their
// nodes, and claims that come later have their turn, although those before them stay.
func TestSlowAboutClaims(t *testing.T) {
	slow := &slowRefuser{hooked: hooked{hook: policy.HookCeiling}, refuses: large}
	b := newBench(t, slow)
	slow.clock = b.clock
	const refused = 5
	for i := range refused {
		if err := b.client.Create(t.Context(), claim(fmt.Sprintf("a-%d", i), "general", large)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.client.Create(t.Context(), claim("late", "general", small)); err != nil { // the last by age or name
		t.Fatal(err)
	}
	b.claimsSeen(t, refused+1)
	b.pod(t, "good", "1500m")
	again := b.round(t, 1)
	if b.planned(t)["good"] != "general" {
		t.Fatalf("planned are %v", b.planned(t))
	}
	if slow.asked > 4 {
		t.Errorf("the policy was asked about %d launches before the pod's node was created, want three, or four", slow.asked)
	}
	if b.options(t, "late") != "" {
		t.Error("the youngest claim had its turn first")
	}
	if again > time.Second {
		t.Errorf("the next round is in %s, although claims are left that had no turn", again)
	}
	for range refused {
		again = b.round(t, 1)
	}
	if b.options(t, "late") == "" {
		t.Error("the youngest claim has had no turn")
	}
	if again < 50*time.Millisecond {
		t.Errorf("the next round is in %s, although all claims had their turns", again)
	}
}
