package client

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"spokeshave.dev/controller/cloud/provider"
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

// Calls that share a bucket are let through in the order in which they came, at the
// rate of the share and not faster; nobody overtakes, and who gives up takes
// nothing from those behind. Other calls do not wait for them.
func TestQuotaIsSharedFairly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &limits{share: 0.5}
		b := l.bucket("EC2", "CreateFleet") // half of 50 at once, half of 5 a second
		for range b.Burst() {
			if err := b.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		begun := time.Now()
		impatient, giveUp := context.WithCancel(t.Context())
		var mu sync.Mutex
		var order []string
		var waits []time.Duration
		var all sync.WaitGroup
		ask := func(ctx context.Context, who string) {
			all.Go(func() {
				err := b.Wait(ctx)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					order, waits = append(order, who), append(waits, time.Since(begun))
				}
			})
			synctest.Wait() // it stands in line before the next one comes
		}
		ask(t.Context(), "first")
		ask(t.Context(), "second")
		ask(t.Context(), "third")
		ask(impatient, "gives up")
		giveUp()
		synctest.Wait()
		ask(t.Context(), "fourth")
		other := time.Now()
		if err := l.bucket("EC2", "DescribeInstances").Wait(t.Context()); err != nil || time.Since(other) > 0 {
			t.Errorf("a call with a bucket of its own waited %s, %v", time.Since(other), err)
		}
		all.Wait()
		if diff := cmp.Diff([]string{"first", "second", "third", "fourth"}, order); diff != "" {
			t.Errorf("let through (-came +went):\n%s", diff)
		}
		for i, want := range []time.Duration{400, 800, 1200, 1600} {
			if got := waits[i].Round(time.Millisecond); got != want*time.Millisecond {
				t.Errorf("%s waited %s, want %d ms: 2.5 a second", order[i], got, want)
			}
		}
	})
}

// A call whose share is used up is not sent, and its caller is told that it is not
// known to have failed.
func TestCallsWaitForTheirShare(t *testing.T) {
	l := &limits{share: 0.5}
	sent := 0
	ec2Client := ec2.NewFromConfig(limited(sdk.Config{
		Region: "us-west-2", Credentials: credentials.NewStaticCredentialsProvider("AKIDTEST", "secret", ""),
		HTTPClient: answers(func(*http.Request) (*http.Response, error) { sent++; return nil, errors.New("nobody is there") }),
		Retryer:    func() sdk.Retryer { return sdk.NopRetryer{} },
	}, l))
	b := l.bucket("EC2", "CreateTags")
	for b.Allow() { // somebody else's calls
		continue
	}
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := ec2Client.CreateTags(soon, &ec2.CreateTagsInput{Resources: []string{"i-1"}, Tags: Tags(map[string]string{"a": "b"})})
	if err == nil || !strings.Contains(err.Error(), "share of requests") || sent != 0 {
		t.Errorf("%v, and %d calls were sent; want none until there is room", err, sent)
	}
	if kind := provider.KindOf(Fault(err, "tag")); kind != provider.Unavailable {
		t.Errorf("kind %s, want one that is tried again", kind)
	}
	if _, err := ec2Client.CreateTags(t.Context(), &ec2.CreateTagsInput{Resources: []string{"i-1"}, Tags: Tags(map[string]string{"a": "b"})}); err == nil || sent != 1 {
		t.Errorf("%v, and %d calls were sent; want one when there is room again", err, sent)
	}
}

// answers is an HTTP ec2Client.
type answers func(*http.Request) (*http.Response, error)

func (f answers) Do(r *http.Request) (*http.Response, error) { return f(r) }

// Tries are repeated after pauses that grow, and that differ from one caller to
// another: those who were throttled together do not come back together.
func TestRetriesHaveJitter(t *testing.T) {
	loaded, err := Load(t.Context(), Location{Region: "us-west-2"})
	if err != nil {
		t.Fatal(err)
	}
	retryer := ec2.NewFromConfig(loaded).Options().Retryer
	if got := retryer.MaxAttempts(); got != maxTries {
		t.Errorf("%d tries, want %d", got, maxTries)
	}
	throttled := &smithy.GenericAPIError{Code: "RequestLimitExceeded"}
	if !retryer.IsErrorRetryable(throttled) || retryer.IsErrorRetryable(&smithy.GenericAPIError{Code: "InvalidParameterValue"}) {
		t.Error("want tries after throttling, and none after a mistake")
	}
	var longest [maxTries]time.Duration
	for try := 1; try < maxTries; try++ {
		seen := map[time.Duration]bool{}
		for range 200 {
			d, err := retryer.RetryDelay(try, throttled)
			if err != nil {
				t.Fatal(err)
			}
			seen[d] = true
			longest[try] = max(longest[try], d)
		}
		if len(seen) < 100 {
			t.Errorf("the pause after try %d has %d lengths in 200; want jitter", try, len(seen))
		}
	}
	if longest[1] > 2*time.Second || longest[3] < longest[1] {
		t.Errorf("longest pauses %v: want at most 2 s at first, and longer ones later", longest[1:])
	}
}

func TestMetrics(t *testing.T) {
	m, err := newCallMetrics(prometheus.NewPedanticRegistry())
	if err != nil {
		t.Fatal(err)
	}
	m.record(call{service: "EC2", action: "CreateFleet", code: "RequestLimitExceeded"})
	if got := testutil.ToFloat64(m.calls.WithLabelValues("EC2", "CreateFleet", "RequestLimitExceeded")); got != 1 {
		t.Errorf("counted %v calls, want 1", got)
	}
	var none *callMetrics
	none.record(call{})
}
