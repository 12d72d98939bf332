package aws_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/cloud/aws/instances"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
	"spokeshave.dev/test/kit/ec2"
	"spokeshave.dev/test/kit/eventually"
)

// listen starts a provider that reads the queue; events that the test does not
// take are refused with fail.
func (w *simulatedEC2) listen(t *testing.T, refuse *atomic.Int32) <-chan provider.Event {
	t.Helper()
	return w.listenCounted(t, refuse, prometheus.NewRegistry())
}

// listenCounted is listen with metrics.
func (w *simulatedEC2) listenCounted(t *testing.T, refuse *atomic.Int32, into prometheus.Registerer) <-chan provider.Event {
	t.Helper()
	p := w.newProvider(t, w.url, func(cfg *aws.Config) { cfg.InterruptionQueue, cfg.Metrics = "demo", into })
	w.provider = p
	ctx, cancel := context.WithCancel(t.Context())
	events, done := make(chan provider.Event, 100), make(chan struct{})
	go func() {
		defer close(done)
		p.ListenForEvents(ctx, func(_ context.Context, e provider.Event) error {
			if refuse.Add(-1) >= 0 {
				return errors.New("not now")
			}
			events <- e
			return nil
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	return events
}

func (w *simulatedEC2) sdkConfig() sdk.Config {
	return ec2.WithoutRetries(ec2.SDK(w.url))
}

func next(t *testing.T, events <-chan provider.Event) provider.Event {
	t.Helper()
	select {
	case e := <-events:
		return e
	case <-time.After(eventually.Within):
		t.Fatal("no event came")
		return provider.Event{}
	}
}

func (w *simulatedEC2) emptied(t *testing.T) {
	t.Helper()
	eventually.Ok(t, "the queue to be empty", func() (string, bool) {
		left := w.server.State().Messages["demo"]
		return fmt.Sprint(left, " messages are left"), left == 0
	})
}

func TestEventsOfEachKind(t *testing.T) {
	w := newEC2(t)
	events := w.listen(t, &atomic.Int32{})
	for kind, want := range map[string]provider.EventKind{
		"spot": provider.SpotInterrupted, "rebalance": provider.RebalanceRecommend, "scheduled": provider.ScheduledChange,
		"reservation": provider.ReservationReclaims, "stopped": provider.InstanceStopped, "terminated": provider.InstanceTerminated,
	} {
		i, err := w.provider.Launch(t.Context(), w.prepare(t, spec("claim-"+kind, option("m7i.large", "us-west-2a", model.Spot))))
		if err != nil {
			t.Fatal(err)
		}
		id, err := instances.InstanceID(i.ProviderID)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.server.Interrupt(sim.Interruption{InstanceID: id, Kind: kind}); err != nil {
			t.Fatal(err)
		}
		if got := next(t, events); got.Kind != want || got.InstanceID != id {
			t.Errorf("%s: %+v, want %s of %s", kind, got, want, id)
		}
	}
	w.emptied(t)
}

func TestLostSpotOfferingIsLeftAlone(t *testing.T) {
	w := newEC2(t)
	events := w.listen(t, &atomic.Int32{})
	i, err := w.provider.Launch(t.Context(), w.prepare(t, spec("a", option("m7i.large", "us-west-2a", model.Spot))))
	if err != nil {
		t.Fatal(err)
	}
	id, err := instances.InstanceID(i.ProviderID)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.server.Interrupt(sim.Interruption{InstanceID: id}); err != nil {
		t.Fatal(err)
	}
	next(t, events)
	catalog := w.catalog(t, "default")
	for _, o := range find(t, &catalog, "m7i.large").Offerings {
		lost := o.Zone == "us-west-2a" && o.CapacityType == model.Spot
		if o.Available == lost {
			t.Errorf("%+v: available %t", o, o.Available)
		}
	}
}

// What cannot be read is counted and dropped; what the handler refuses comes again.
func TestQueueAfterTrouble(t *testing.T) {
	w := newEC2(t)
	var refuse atomic.Int32
	refuse.Store(1)
	client := sqs.NewFromConfig(w.sdkConfig())
	url, err := client.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: sdk.String("demo")})
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{
		"hello", `{"detail-type":"x","source":"aws.ec2","detail":{}}`,
		`{"detail-type":"EC2 Instance Rebalance Recommendation","source":"aws.ec2","detail":{"instance-id":"i-1"}}`,
	} {
		if _, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: url.QueueUrl, MessageBody: sdk.String(body)}); err != nil {
			t.Fatal(err)
		}
	}
	counts := prometheus.NewRegistry()
	events := w.listenCounted(t, &refuse, counts)
	eventually.True(t, "one message that was refused to be left", func() bool {
		return w.server.State().Messages["demo"] == 1 && refuse.Load() == 0
	})
	w.clock.Step(31 * time.Second) // the visibility timeout
	if got := next(t, events); got.InstanceID != "i-1" {
		t.Errorf("event %+v, want the one refused before", got)
	}
	w.emptied(t)
	want := strings.NewReader(`# HELP spokeshave_interruption_malformed_messages_total Messages of the interruption queue that could not be read; they are dropped.
# TYPE spokeshave_interruption_malformed_messages_total counter
spokeshave_interruption_malformed_messages_total 1
`)
	if err := testutil.GatherAndCompare(counts, want, "spokeshave_interruption_malformed_messages_total"); err != nil {
		t.Error(err)
	}
}

// Every call of the queue, gone wrong in every way: what was announced is handled,
// perhaps twice, and then it is off the queue.
func TestFaultMatrixOfQueue(t *testing.T) {
	for _, a := range accounts(t) {
		for _, action := range queueCalls() {
			for name, fault := range faultsOf(action) {
				t.Run(a.name+"/"+action+"/"+name, func(t *testing.T) {
					t.Parallel()
					w := a.start(t)
					w.announce(t, "i-1")
					w.strike(t, action, fault)
					events := w.listen(t, &atomic.Int32{})
					eventually.Ok(t, "the fault to strike and the message to be handled", func() (string, bool) {
						left := w.server.State()
						if left.Messages["demo"] == 0 && len(left.Faults) == 0 {
							return "", true
						}
						w.clock.Step(31 * time.Second) // the visibility timeout
						return fmt.Sprintf("%d messages and the faults %+v are left", left.Messages["demo"], left.Faults), false
					})
					if got := next(t, events); got.Kind != provider.RebalanceRecommend || got.InstanceID != "i-1" {
						t.Errorf("event %+v, want the one announced", got)
					}
				})
			}
		}
	}
}

// announce puts a recommendation to rebalance on the queue, as EventBridge does, whom no policy
// of ours binds.
func (w *simulatedEC2) announce(t *testing.T, instance string) {
	t.Helper()
	cfg := ec2.SDK(w.url)
	cfg.Credentials = credentials.NewStaticCredentialsProvider(sim.JoinerKey, "secret", "")
	client := sqs.NewFromConfig(cfg)
	url, err := client.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: sdk.String("demo")})
	if err != nil {
		t.Fatal(err)
	}
	body := `{"detail-type":"EC2 Instance Rebalance Recommendation","source":"aws.ec2","detail":{"instance-id":"` + instance + `"}}`
	if _, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: url.QueueUrl, MessageBody: &body}); err != nil {
		t.Fatal(err)
	}
}
