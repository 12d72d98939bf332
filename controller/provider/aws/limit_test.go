package aws

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestQuotaIsShared(t *testing.T) {
	l := &limits{share: 0.5}
	for action, want := range map[string]int{"DescribeInstances": 50, "CreateTags": 50, "CreateFleet": 25} {
		b := l.bucket("EC2", action)
		if got := b.Burst(); got != want {
			t.Errorf("%s: %d at once, want half of the account's, %d", action, got, want)
		}
		if l.bucket("EC2", action) != b {
			t.Errorf("%s: two buckets", action)
		}
	}
	if !l.bucket("SQS", "ReceiveMessage").Allow() {
		t.Error("SQS is limited; its quota is practically none")
	}
}

func TestGathererAnswersEachAndEndsWithItsContext(t *testing.T) {
	release := make(chan struct{})
	g := gatherer[int, int]{idle: time.Millisecond, longest: time.Millisecond, most: 10, do: func(_ context.Context, q []int) map[int]answer[int] {
		<-release
		out := map[int]answer[int]{}
		for _, n := range q {
			out[n] = answer[int]{value: n * n}
		}
		return out
	}}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.ask(over, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("asked with a context that is over: %v", err)
	}
	close(release)
	if n, err := g.ask(t.Context(), 3); err != nil || n != 9 {
		t.Errorf("ask 3 = %d, %v", n, err)
	}
}

// The more wait, the longer the rest waits for the next; not for ever.
func TestGathererIsPatientWithMany(t *testing.T) {
	for questions, want := range map[int]time.Duration{1: 100, 2: 110, 51: 600, 91: 1000, 500: 1000} {
		g := gatherer[int, int]{idle: prepareIdle, each: prepareEach, patience: prepareMost}
		w := &window[int, int]{questions: make([]int, questions)}
		if got := g.pause(w); got != want*time.Millisecond {
			t.Errorf("with %d waiting it waits %s for the next, want %d ms", questions, got, want)
		}
		g = gatherer[int, int]{idle: gatherIdle}
		if got := g.pause(w); got != gatherIdle {
			t.Errorf("with %d waiting, and no patience, it waits %s, want %s", questions, got, gatherIdle)
		}
	}
}

func TestMetrics(t *testing.T) {
	m, err := newMetrics(prometheus.NewPedanticRegistry())
	if err != nil {
		t.Fatal(err)
	}
	m.call(call{service: "EC2", action: "CreateFleet", code: "RequestLimitExceeded"})
	if got := testutil.ToFloat64(m.calls.WithLabelValues("EC2", "CreateFleet", "RequestLimitExceeded")); got != 1 {
		t.Errorf("counted %v calls, want 1", got)
	}
	var none *metrics
	none.call(call{})
	none.updated("types", time.Time{})
}
