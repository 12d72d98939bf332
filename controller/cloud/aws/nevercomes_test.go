package aws_test

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"testing"

	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// TestNeverComes: a claim that is missed, and cannot have written the request down, is not
// waited for. One that may have is, since its request may have been sent.
func TestNeverComes(t *testing.T) {
	gone := &provider.Error{Kind: provider.NotFound, Err: errors.New("no such claim")}
	other := provider.Attempt{Token: "other", Request: []byte("{}")}
	for name, tc := range map[string]struct {
		reason    string
		restarted bool
		written   provider.Attempt
		err       error
		sent      bool
		want      provider.Kind // empty for an instance
	}{
		"launched otherwise": {"it has written another request under the number of this one", true, other, nil, false, provider.Stale},
		"later attempt":      {"it may have written this one before", true, provider.Attempt{Token: "other", Ordinal: 1, Request: []byte("{}")}, nil, false, provider.Unavailable},
		"not written yet":    {"it may be written by a predecessor that is not quite dead", true, provider.Attempt{}, nil, false, provider.Unavailable},
		"gone":               {"it may have gone after the request was sent", true, provider.Attempt{}, gone, false, provider.Unavailable},
		"unknown":            {"the API server does not answer", true, provider.Attempt{}, errors.New("timeout"), false, provider.Unavailable},
		"sent all the same":  {"EC2 knows better: the claim was restored from a backup", true, other, nil, true, ""},
		"made, gone":         {"this process made the request, and has not sent it", false, provider.Attempt{}, gone, false, provider.Stale},
		"made, later":        {"it has written another one since", false, provider.Attempt{Token: "other", Ordinal: 1, Request: []byte("{}")}, nil, false, provider.Stale},
		"made, unknown":      {"the API server does not answer", false, provider.Attempt{}, errors.New("timeout"), false, provider.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of the time is spent waiting
			w := newEC2(t)
			claims := claimNames(3)
			attempts := w.prepareAll(t, claims, option("m7i.large", "us-west-2a", model.OnDemand))
			if tc.sent {
				wantDistinct(t, launchAll(t, w.provider, attempts), 3)
			}
			known := func(cfg *aws.Config) {
				cfg.Written = func(_ context.Context, claim string) (provider.Attempt, error) {
					if claim == claims[0] {
						return tc.written, tc.err
					}
					return attempts[claim], nil
				}
			}
			w.provider = w.newProvider(t, w.url, known)
			if !tc.restarted {
				attempts = w.prepareAll(t, claims, option("m7i.large", "us-west-2a", model.OnDemand))
			}
			delete(attempts, claims[0])
			if tc.want != provider.Unavailable {
				launchAll(t, w.provider, attempts) // one of the two looks, the other asks again
			}
			for claim, r := range launchAll(t, w.provider, attempts) {
				if r.err == nil && tc.want == "" {
					continue
				}
				if r.err == nil || provider.KindOf(r.err) != tc.want {
					t.Errorf("%s: %s: %v, want %s", tc.reason, claim, r.err, cmp.Or(string(tc.want), "an instance"))
				}
			}
		})
	}
}

// TestAttemptsOfOneNumber: claims whose attempts have different numbers share no request.
func TestAttemptsOfOneNumber(t *testing.T) {
	w := newEC2(t)
	var wg sync.WaitGroup
	for i, claim := range claimNames(4) {
		wg.Go(func() {
			s := spec(claim, option("m7i.large", "us-west-2a", model.OnDemand))
			s.Ordinal = 1 + i%2
			a, err := w.provider.Prepare(t.Context(), s)
			if err != nil || len(a.Claims) > 2 {
				t.Errorf("%s shares with %v: %v; want those of attempt %d", claim, a.Claims, err, s.Ordinal)
			}
		})
	}
	wg.Wait()
}

// TestComesMeanwhile: the claim that is missed comes, and the request is sent, while another one finds that it
// is being deleted. The other one gets its instance, and no second one.
func TestComesMeanwhile(t *testing.T) {
	w := newEC2(t)
	claims := claimNames(2)
	var attempts map[string]provider.Attempt
	asked := make(chan struct{})
	sent := make(chan launchResult, 1)
	w.provider = w.newProvider(t, w.url, func(cfg *aws.Config) {
		cfg.Written = func(ctx context.Context, _ string) (provider.Attempt, error) {
			close(asked)
			i, err := w.provider.Launch(ctx, attempts[claims[0]])
			sent <- launchResult{i, err}
			return provider.Attempt{}, &provider.Error{Kind: provider.NotFound, Err: errors.New("it is being deleted")}
		}
	})
	attempts = w.prepareAll(t, claims, option("m7i.large", "us-west-2a", model.OnDemand))
	other, err := w.provider.Launch(t.Context(), attempts[claims[1]])
	<-asked
	first := <-sent
	if err != nil || first.err != nil || other.ProviderID == first.instance.ProviderID {
		t.Errorf("the claim that came: %s, %v; the other one: %s, %v", first.instance.ProviderID, first.err, other.ProviderID, err)
	}
	if w.alive() != 2 {
		t.Errorf("%d instances, want 2", w.alive())
	}
}
