package aws_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
	"spokeshave.dev/test/kit/eventually"
)

func claimNames(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("claim-%04d", i))
	}
	return out
}

// prepareAll prepares claims at the same time, as the reconcilers do.
func (w *simulatedEC2) prepareAll(t *testing.T, claims []string, options ...model.Option) map[string]provider.Attempt {
	t.Helper()
	w.groups++
	group := provider.Group{Name: fmt.Sprintf("group-%d", w.groups), Size: len(claims)}
	out := map[string]provider.Attempt{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, claim := range claims {
		wg.Go(func() {
			s := spec(claim, options...)
			s.Group = group
			a, err := w.provider.Prepare(t.Context(), s)
			if err != nil {
				t.Errorf("prepare %s: %v", claim, err)
			}
			mu.Lock()
			defer mu.Unlock()
			out[claim] = a
		})
	}
	wg.Wait()
	return out
}

type launchResult struct {
	instance provider.Instance
	err      error
}

func launchAll(t *testing.T, p provider.Provider, attempts map[string]provider.Attempt) map[string]launchResult {
	t.Helper()
	out := map[string]launchResult{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for claim, a := range attempts {
		wg.Go(func() {
			i, err := p.Launch(t.Context(), a)
			mu.Lock()
			defer mu.Unlock()
			out[claim] = launchResult{instance: i, err: err}
		})
	}
	wg.Wait()
	return out
}

// wantDistinct fails unless every claim has an instance of its own.
func wantDistinct(t *testing.T, results map[string]launchResult, n int) {
	t.Helper()
	ids := map[string]string{}
	for claim, r := range results {
		if r.err != nil {
			t.Errorf("launch %s: %v", claim, r.err)
			continue
		}
		if other, twice := ids[r.instance.ProviderID]; twice {
			t.Errorf("%s and %s share %s", claim, other, r.instance.ProviderID)
		}
		ids[r.instance.ProviderID] = claim
		if r.instance.Claim != claim {
			t.Errorf("the instance of %s is for claim %q", claim, r.instance.Claim)
		}
	}
	if len(ids) != n {
		t.Errorf("%d instances, want %d", len(ids), n)
	}
}

func (w *simulatedEC2) requests(action string) int {
	n := 0
	for _, count := range w.server.State().Requests[action] {
		n += count
	}
	return n
}

func (w *simulatedEC2) alive() int { return w.server.State().Running - len(w.theirs) }

func TestOneFleetForManyClaims(t *testing.T) {
	w := newEC2(t)
	claims := claimNames(20)
	attempts := w.prepareAll(t, claims, option("m7i.large", "us-west-2a", model.OnDemand))
	results := launchAll(t, w.provider, attempts)
	wantDistinct(t, results, 20)
	if n := w.requests("CreateFleet"); n != 1 {
		t.Errorf("%d CreateFleet calls for one template and zone, want 1", n)
	}
	// Every claim keeps its instance when all is repeated by a new controller.
	again := launchAll(t, w.newProvider(t, w.url), attempts)
	for claim, r := range results {
		if again[claim].instance.ProviderID != r.instance.ProviderID {
			t.Errorf("%s has %s, and %s after a restart", claim, r.instance.ProviderID, again[claim].instance.ProviderID)
		}
	}
	if w.alive() != 20 {
		t.Errorf("%d instances, want 20", w.alive())
	}
	// Meanwhile the claims are written on the instances.
	eventuallyTagged(t, w, claims)
}

func eventuallyTagged(t *testing.T, w *simulatedEC2, want []string) {
	t.Helper()
	var got []string
	eventually.Ok(t, "instances to be tagged with claims", func() (string, bool) {
		got = w.living()
		slices.Sort(got)
		return "-want +got:\n" + cmp.Diff(want, got), slices.Equal(got, want)
	})
}

func TestDifferentRequestsStayApart(t *testing.T) {
	w := newEC2(t)
	var wg sync.WaitGroup
	for i, claim := range claimNames(6) {
		wg.Go(func() {
			s := spec(claim, option("m7i.large", "us-west-2a", model.OnDemand))
			s.Group = provider.Group{Name: "six", Size: 6}
			if i%2 == 0 {
				s.Labels = map[string]string{"team": "other"} // another launch template
			}
			a, err := w.provider.Prepare(t.Context(), s)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := w.provider.Launch(t.Context(), a); err != nil || len(a.Claims) != 3 {
				t.Errorf("launch %s with %v: %v", claim, a.Claims, err)
			}
		})
	}
	wg.Wait()
	if n := w.requests("CreateFleet"); n != 2 {
		t.Errorf("%d CreateFleet calls, want one for each of two templates", n)
	}
}

// TestLaunchedOtherwise: a claim that is launched by another attempt than it was given last has not
// written that one. Those that share it learn so at once.
func TestLaunchedOtherwise(t *testing.T) {
	w := newEC2(t)
	o := option("m7i.large", "us-west-2a", model.OnDemand)
	written := w.prepareAll(t, []string{"a"}, o)["a"]
	w.provider = w.newProvider(t, w.url) // which does not know of it
	shared := w.prepareAll(t, []string{"a", "b"}, o)
	results := launchAll(t, w.provider, map[string]provider.Attempt{"a": written})
	wantDistinct(t, results, 1)
	if _, err := w.provider.Launch(t.Context(), shared["b"]); provider.KindOf(err) != provider.Stale {
		t.Errorf("b, which shares a request with a: %v; want that the attempt is stale", err)
	}
	if w.alive() != 1 {
		t.Errorf("%d instances, want that of a", w.alive())
	}
}

func TestPartlyFulfilled(t *testing.T) {
	w := newEC2(t)
	o := option("m7i.large", "us-west-2a", model.OnDemand)
	w.setFree(t, new(3), o)
	attempts := w.prepareAll(t, claimNames(5), o)
	check := func(results map[string]launchResult) {
		t.Helper()
		for i, claim := range claimNames(5) {
			r := results[claim]
			if i < 3 != (r.err == nil) {
				t.Errorf("%s: %v; want the first three to have instances", claim, r.err)
			}
			if r.err != nil && provider.KindOf(r.err) != provider.InsufficientCapacity {
				t.Errorf("%s: %v", claim, r.err)
			}
		}
	}
	check(launchAll(t, w.provider, attempts))
	check(launchAll(t, w.newProvider(t, w.url), attempts))
	catalog := w.catalog(t, "default")
	for _, offering := range find(t, &catalog, "m7i.large").Offerings {
		sold := offering.Zone == "us-west-2a" && offering.CapacityType == model.OnDemand
		if offering.Available == sold {
			t.Errorf("%+v: available %t", offering, offering.Available)
		}
	}
}

// The answer to a joint launch is lost, and every claim asks again.
func TestJointLostAnswer(t *testing.T) {
	for name, fault := range map[string]sim.Fault{
		"timeout after success": {Action: "CreateFleet", AfterSuccess: true},
		"timeout before":        {Action: "CreateFleet", Cut: true},
		"server error":          {Action: "CreateFleet", HTTPStatus: 500},
		"throttled":             {Action: "CreateFleet", Code: "RequestLimitExceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEC2(t)
			attempts := w.prepareAll(t, claimNames(4), option("m7i.large", "us-west-2a", model.OnDemand))
			w.order(t, fault)
			for claim, r := range launchAll(t, w.provider, attempts) {
				if r.err == nil || provider.KindOf(r.err).Definitive() {
					t.Errorf("%s: %v, want an error that asks to repeat", claim, r.err)
				}
			}
			wantDistinct(t, launchAll(t, w.provider, attempts), 4)
			if w.alive() != 4 {
				t.Errorf("%d instances, want 4", w.alive())
			}
		})
	}
}

// A controller dies after it has sent the request and one claim has recorded its
// instance; that claim does not ask again.
func TestRestartAfterOneRecorded(t *testing.T) {
	w := newEC2(t)
	attempts := w.prepareAll(t, claimNames(3), option("m7i.large", "us-west-2a", model.OnDemand))
	first := launchAll(t, w.provider, attempts)
	delete(attempts, "claim-0000")
	second := launchAll(t, w.newProvider(t, w.url), attempts)
	if n := w.alive(); n != 3 {
		t.Errorf("%d instances, want 3", n)
	}
	for claim, r := range second {
		eventually.Ok(t, claim+" to be given an instance or a refusal", func() (string, bool) {
			if r.err == nil || provider.KindOf(r.err) != provider.Unavailable {
				return "", true
			}
			r.instance, r.err = w.newProvider(t, w.url).Launch(t.Context(), attempts[claim])
			return fmt.Sprint(r.err), false
		})
		if r.err != nil || r.instance.ProviderID != first[claim].instance.ProviderID {
			t.Errorf("%s: %+v, %v, want the instance of before, %s", claim, r.instance.ProviderID, r.err, first[claim].instance.ProviderID)
		}
	}
}

// A controller dies before all claims have written the attempt down: nothing was
// sent, and after a while the others start anew.
func TestRestartBeforeAllWrote(t *testing.T) {
	w := newEC2(t)
	attempts := w.prepareAll(t, claimNames(6), option("m7i.large", "us-west-2a", model.OnDemand))
	p := w.newProvider(t, w.url)
	_, err := p.Launch(t.Context(), attempts["claim-0001"])
	wantKind(t, err, provider.Unavailable)
	// A shared launch has up to 200 claims, and this stands on each of them.
	if text := err.Error(); !strings.Contains(text, "waiting for claim-0000, claim-0002, claim-0003, 2 more, which") {
		t.Errorf("%q does not name the first of those it waits for, and how many more", text)
	}
	w.clock.Step(3 * time.Minute)
	_, err = p.Launch(t.Context(), attempts["claim-0001"])
	wantKind(t, err, provider.Stale)
	if w.alive() != 0 {
		t.Errorf("%d instances were started", w.alive())
	}
}

// A claim that could not write its attempt is given the same one again; when it
// wants another, those that wait for it are let go.
func TestClaimLeavesItsSharedLaunch(t *testing.T) {
	w := newEC2(t)
	o := option("m7i.large", "us-west-2a", model.OnDemand)
	attempts := w.prepareAll(t, claimNames(2), o)
	same := w.prepare(t, spec("claim-0000", o))
	if diff := cmp.Diff(attempts["claim-0000"], same); diff != "" {
		t.Errorf("prepared again (-first +again):\n%s", diff)
	}
	// That one is told while it waits, fleet's TestArrive shows.
	_, err := w.provider.Launch(t.Context(), attempts["claim-0001"])
	wantKind(t, err, provider.Unavailable)
	other := w.prepare(t, spec("claim-0000", option("m7i.xlarge", "us-west-2a", model.OnDemand)))
	_, err = w.provider.Launch(t.Context(), attempts["claim-0001"])
	wantKind(t, err, provider.Stale)
	if _, err := w.provider.Launch(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	w.wantLiving(t, "claim-0000")
}

// When as many wait as are worked on at once, nobody else can come: the window
// closes, whatever it would wait for the next.
func TestNobodyElseCanCome(t *testing.T) {
	w := newEC2Of(t, "m7i.")
	w.provider = w.newProvider(t, w.url, func(cfg *aws.Config) { cfg.Claims = 3 })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for _, claim := range claimNames(3) {
		all.Go(func() {
			s := spec(claim, option("m7i.large", "us-west-2a", model.OnDemand))
			s.Group = provider.Group{Name: "four", Size: 4} // a fourth is waited for
			a, err := w.provider.Prepare(ctx, s)
			if err != nil || len(a.Claims) != 3 {
				t.Errorf("%s shares with %v, %v; want one attempt for the three", claim, a.Claims, err)
			}
		})
	}
	all.Wait()
}
