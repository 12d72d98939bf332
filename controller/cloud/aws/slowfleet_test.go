package aws_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
	"spokeshave.dev/test/kit/ec2"
	"spokeshave.dev/test/kit/ec2provider"
)

// inProcess answers requests without a network, so that a test's bubble can pass its time.
type inProcess struct{ handler http.Handler }

// Do implements aws.HTTPClient.
func (c inProcess) Do(r *http.Request) (*http.Response, error) {
	answer, done := httptest.NewRecorder(), make(chan struct{})
	if r.Body == nil {
		r.Body = http.NoBody // as a server would see it
	}
	go func() {
		defer close(done)
		c.handler.ServeHTTP(answer, r)
	}()
	select {
	case <-done:
		return answer.Result(), nil
	case <-r.Context().Done():
		<-done // what the request began takes effect all the same
		return nil, r.Context().Err()
	}
}

// inBubble is a provider in the bubble of a test, with a class that is resolved, at a simulated EC2 outside of it.
func inBubble(t *testing.T, at *ec2.Endpoint) *simulatedEC2 {
	t.Helper()
	w := &simulatedEC2{classes: map[string]*awsv1.EC2NodeClass{}}
	w.server = at.Server
	w.provider = ec2provider.New(t, at.URL, func(cfg *aws.Config) {
		cfg.SDK.HTTPClient, cfg.QuotaShare = inProcess{at.Server}, 1000
		cfg.Classes = func(_ context.Context, name string) (*awsv1.EC2NodeClass, error) { return w.classes[name], nil }
	})
	w.refresh(t)
	class := ec2provider.NodeClass("default", awsv1.AMISelectorTerm{Alias: "al2023@latest"})
	w.classes["default"] = class
	w.resolveAt(t, class, time.Now)
	return w
}

// TestEndedInstanceIsNotTagged: the provider tells the queue of tags that it has ended an
// instance, so that nobody asks EC2 to tag what is gone.
func TestEndedInstanceIsNotTagged(t *testing.T) {
	at := ec2.Start(t, []string{"m7i."}, func(cfg *sim.Config) { cfg.Clock = clock.RealClock{} })
	synctest.Test(t, func(t *testing.T) {
		w := inBubble(t, at)
		claims := claimNames(2)
		attempts := w.prepareAll(t, claims, option("m7i.large", "us-west-2a", model.OnDemand))
		w.order(t, sim.Fault{Action: "CreateTags", Code: "InvalidInstanceID.NotFound", Count: 2})
		launched := launchAll(t, w.provider, attempts)
		wantDistinct(t, launched, 2)
		time.Sleep(tagPause / 2) //nolint:forbidigo // time in the bubble: EC2 has not shown either yet
		if n := w.requests("CreateTags"); n != 2 {
			t.Fatalf("%d requests for tags, want a first one for each instance", n)
		}
		if err := w.provider.Terminate(t.Context(), launched[claims[0]].instance.ProviderID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) //nolint:forbidigo // time in the bubble
		if n := w.requests("CreateTags"); n != 3 {
			t.Errorf("%d requests for tags, want a further one for the instance that lives, and none for the other", n)
		}
		eventuallyTagged(t, w, claims[1:])
	})
}

// tagPause is how long an instance that EC2 does not show yet waits for another try.
const tagPause = time.Second

// TestSlowFleet: EC2 takes its time to answer a launch. One of many instances is waited for,
// without a second request; the answer to one of few that takes much longer is given up, and
// the repeated request finds what the first has started.
func TestSlowFleet(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		claims int
		takes  time.Duration
		// requests is how many reach EC2, and within how long all have their instance.
		requests int
		within   time.Duration
	}{
		"200 instances in 100 s":       {"a try is given 130 s", 200, 100 * time.Second, 1, 105 * time.Second},
		"two instances in two minutes": {"a try is given 31 s; what it started is there", 2, 2 * time.Minute, 2, 45 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			// The network that it also answers on is none of the bubble's.
			at := ec2.Start(t, []string{"m7i."}, func(cfg *sim.Config) { cfg.Clock = clock.RealClock{} })
			synctest.Test(t, func(t *testing.T) {
				w := inBubble(t, at)
				attempts := w.prepareAll(t, claimNames(c.claims), option("m7i.large", "us-west-2a", model.OnDemand))
				w.order(t, sim.Fault{Action: "CreateFleet", Latency: sim.Duration{Duration: c.takes}})
				begun := time.Now()
				wantDistinct(t, launchAll(t, w.provider, attempts), c.claims)
				if took := time.Since(begun); took > c.within {
					t.Errorf("%s: it took %s, want at most %s", c.reason, took, c.within)
				}
				eventuallyTagged(t, w, claimNames(c.claims)) // in the background, which a bubble does not outlive
				if n := w.requests("CreateFleet"); n != c.requests || w.alive() != c.claims {
					t.Errorf("%s: %d requests started %d instances, want %d and %d", c.reason, n, w.alive(), c.requests, c.claims)
				}
			})
		})
	}
}
