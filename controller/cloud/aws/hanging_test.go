package aws_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
	"spokeshave.dev/test/kit/eventually"
)

// hang makes calls of an action wait for an answer that does not come: the clock is the
// test's.
func hang(action string) sim.Fault {
	return sim.Fault{Action: action, Latency: sim.Duration{Duration: 1000 * time.Hour}, Forever: true}
}

// A service that never answers holds up neither a decision nor the launch that follows,
// nor what is read from other services.
func TestDecisionsWaitForNoService(t *testing.T) {
	for name, c := range map[string]struct {
		reason  string
		actions []string
		// provisional is what the catalogue says of itself meanwhile.
		provisional bool
	}{
		"price list":  {"an isolated VPC has no way to the Price List service", []string{"GetProducts"}, false},
		"spot prices": {"prices to compare running nodes with are missing", []string{"DescribeSpotPriceHistory"}, true},
		"types":       {"what is sold where is not known", []string{"DescribeInstanceTypes"}, true},
		"everything": {"the embedded catalogue serves", []string{
			"GetProducts", "DescribeSpotPriceHistory", "DescribeInstanceTypes", "DescribeInstanceTypeOfferings", "DescribeCapacityReservations",
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEC2(t)
			for _, action := range c.actions {
				w.order(t, hang(action))
			}
			p := w.newProvider(t, w.url)
			ctx, cancel := context.WithCancel(t.Context())
			var readers sync.WaitGroup
			for _, source := range p.Sources().All() {
				readers.Go(func() { p.Sources().Ask(ctx, source) })
			}
			defer readers.Wait()
			defer cancel()
			w.provider = p
			// What other services say comes in while one of them hangs.
			var got model.Catalog
			eventually.True(t, "a catalogue with what the other services said", func() bool {
				var err error
				if got, err = p.Catalog(t.Context(), "default"); err != nil {
					t.Fatal(err)
				}
				return got.Provisional == c.provisional
			})
			if m7i := find(t, &got, "m7i.large"); len(m7i.Offerings) == 0 || m7i.Offerings[0].Price == 0 {
				t.Errorf("%s: nothing of m7i.large to buy: %+v", c.reason, m7i)
			}
			select {
			case <-p.Sources().Settled():
				t.Error("a source that has not answered counts as asked")
			default:
			}
			i, err := p.Launch(t.Context(), w.prepare(t, spec("a", option("m7i.large", "us-west-2a", model.OnDemand))))
			if err != nil || i.InstanceType != "m7i.large" {
				t.Errorf("%s: launched %+v, %v", c.reason, i, err)
			}
		})
	}
}

// What was read last stays in force while a service does not answer, and it is said to be
// stale once it is twice as old as it should be.
func TestStaleSources(t *testing.T) {
	w := newEC2(t)
	w.refresh(t)
	before := w.catalog(t, "default")
	w.order(t, sim.Fault{Action: "DescribeSpotPriceHistory", HTTPStatus: 503, Forever: true})
	stale := func() (out []string) {
		for _, each := range w.provider.Sources().Stale() {
			out = append(out, each.What)
		}
		return out
	}
	for _, step := range []struct {
		after time.Duration
		want  []string
	}{{61 * time.Minute, nil}, {50 * time.Minute, nil}, {10 * time.Minute, []string{"spot prices"}}} {
		w.clock.Step(step.after)
		after := w.catalog(t, "default")
		if got := stale(); !slices.Equal(got, step.want) {
			t.Errorf("another %s later stale: %q, want %q", step.after, got, step.want)
		}
		if after.Generation != before.Generation || after.Provisional {
			t.Error("the last prices are not in force any more")
		}
	}
}
