package upkeep_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/refresh"
	"spokeshave.dev/controller/cloud/aws/upkeep"
	"spokeshave.dev/test/kit/eventually"
)

// guarded keeps events of several goroutines.
type guarded struct {
	mu sync.Mutex
	recorded
}

func (g *guarded) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.recorded.Eventf(regarding, related, kind, reason, action, note, args...)
}

// on are the reasons of the events on an object, in order.
func (g *guarded) on(name string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []string
	for _, each := range g.said {
		if each.on == name {
			out = append(out, each.reason)
		}
	}
	return strings.Join(out, " ")
}

// testRefresher: each source is read at its own pace, whatever another one does; a class
// hears once that one is stale, and once that it is not any more.
func testRefresher(t *testing.T, c client.Client) {
	class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "refreshed"}, Spec: validSpec()}
	if err := c.Create(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), class) })
	clock := clocktesting.NewFakeClock(time.Date(2026, 8, 3, 12, 0, 0, 0, time.UTC))
	var reads, woken atomic.Int32
	var fails atomic.Bool
	sources := refresh.New(clock.Now, logr.Discard(), nil,
		&refresh.Source{What: "hanging prices", Every: time.Hour, Read: func(ctx context.Context) (bool, error) {
			<-ctx.Done()
			return false, ctx.Err()
		}},
		&refresh.Source{What: "prices", Every: time.Hour, Read: func(context.Context) (bool, error) {
			reads.Add(1)
			if fails.Load() {
				return false, errors.New("no answer")
			}
			return true, nil
		}})
	recorder := &guarded{}
	r := &upkeep.Refresher{
		Client: c, Sources: sources, Events: recorder, Leading: func() bool { return true }, Changed: func() { woken.Add(1) }, Clock: clock,
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := r.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	defer running.Wait()
	defer cancel()
	awaited := make(chan struct{})
	go func() { r.Await(ctx); close(awaited) }()
	until := func(what string, events string, steps time.Duration) {
		t.Helper()
		eventually.True(t, what, func() bool {
			clock.Step(steps)
			return recorder.on(class.Name) == events
		})
	}
	eventually.True(t, "the source that answers is read, and decided with", func() bool { return reads.Load() == 1 && woken.Load() == 1 })
	eventually.True(t, "the first decision waits ten seconds for the one that hangs", func() bool {
		clock.Step(time.Second)
		select {
		case <-awaited:
			return true
		default:
			return false
		}
	})
	fails.Store(true)
	until("an event about the stale source", awsv1.EventMarketStale, 10*time.Minute)
	eventually.True(t, "it is asked again", func() bool { clock.Step(time.Minute); return reads.Load() > 5 })
	fails.Store(false)
	until("an event when it is read again", awsv1.EventMarketStale+" "+awsv1.EventMarketRefreshed, time.Minute)
	recorder.mu.Lock()
	defer recorder.mu.Unlock()
	if at := slices.IndexFunc(recorder.said, func(s said) bool { return strings.Contains(s.note, "prices have not been read from AWS since 2026") }); at < 0 {
		t.Errorf("%+v do not say since when", recorder.said)
	}
}
