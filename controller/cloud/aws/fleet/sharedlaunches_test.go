package fleet

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/cloud/aws/batch"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// TestSharedLaunchesAreForgotten: a shared launch is remembered, with the attempts that its
// claims were given, for as long as one of them may ask for it, and without its request once
// the outcome is known.
func TestSharedLaunchesAreForgotten(t *testing.T) {
	claims := []string{"a", "b"}
	final := batch.ToAll[string, provider.Instance](claims, errors.New("sold out"))
	for name, tc := range map[string]struct {
		reason  string
		outcome map[string]batch.Answer[provider.Instance]
		after   time.Duration
		want    bool
	}{
		"waits":         {"the other claim may still come", nil, launchKept, true},
		"waited":        {"both claims have been given up", nil, launchKept + time.Second, false},
		"just answered": {"a claim that could not write its instance asks again", final, outcomeKept, true},
		"answered":      {"EC2 says it again to whoever asks now", final, outcomeKept + time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			var launches sharedLaunches
			var members []*member
			for _, claim := range claims {
				members = append(members, &member{
					memberID: memberID{claim: claim}, request: "same",
					attempt: provider.Attempt{Token: "token", Claim: claim, Claims: claims, Request: []byte(claim)},
				})
			}
			launches.rememberPrepared(members, now)
			launch := launches.find(&members[0].attempt, now, true)
			launch.recorded = members[0].attempt.Request
			failure := errors.New("no answer")
			_, err := launch.share(t.Context(), "a", func() time.Time { return now }, func(context.Context) (map[string]batch.Answer[provider.Instance], error) {
				return tc.outcome, failure
			})
			if err == nil {
				t.Error("the failure is lost")
			}
			if keeps := launch.recorded != nil; keeps != (tc.outcome == nil) {
				t.Errorf("the request is kept: %t, with outcome %v", keeps, tc.outcome)
			}
			if again, ok := launch.answered("b"); ok != (tc.outcome != nil) || !errors.Is(again.Err, tc.outcome["b"].Err) {
				t.Errorf("b is answered %v, %t", again.Err, ok)
			}
			launches.find(&provider.Attempt{Token: "other"}, now.Add(tc.after), true)
			if _, got := launches.byToken["token"]; got != tc.want {
				t.Errorf("%s: remembered %t, want %t", tc.reason, got, tc.want)
			}
			if got := len(launches.preparedAttempts) == len(claims); got != tc.want {
				t.Errorf("%s: %d attempts are remembered", tc.reason, len(launches.preparedAttempts))
			}
		})
	}
}

// TestAsksAgain: a claim that was given an attempt of its own, and asks again because it does not yet
// see what it has written, is given that attempt. A claim of its group that comes meanwhile shares no
// request with it: it would wait for a claim that never comes.
func TestAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Launcher{cfg: Config{Clock: time.Now}}
		l.gathering = gathering{most: 10, give: l.groupAttempts, clock: time.Now}
		option := model.Option{InstanceType: "m7i.large", Zone: "us-west-2a", CapacityType: model.OnDemand}
		want := &wanted{overrides: []override{{Option: option, image: "i", subnet: "s"}}, templates: map[string]string{"i": "t"}, tags: map[string]string{}}
		ask := func(claim string) <-chan provider.Attempt {
			out := make(chan provider.Attempt, 1)
			go func() {
				attempt, err := l.joined(t.Context(), &member{
					memberID: memberID{claim: claim}, want: want, request: "same", group: provider.Group{Name: "d-0", Size: 2},
				})
				if err != nil {
					t.Error(err)
				}
				out <- attempt
			}()
			synctest.Wait()
			return out
		}
		first := <-ask("a")
		again, other := ask("a"), ask("b")
		if diff := cmp.Diff(first, <-again); diff != "" {
			t.Errorf("a gets another attempt (-first +again):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"b"}, (<-other).Claims); diff != "" {
			t.Errorf("claims of the request of b (-want +got):\n%s", diff)
		}
		time.Sleep(ownKept + time.Second) //nolint:forbidigo // of the bubble's time
		<-ask("c")
		if n := len(l.launches.preparedAttempts); n != 1 {
			t.Errorf("%d attempts are remembered, want that of c", n)
		}
	})
}
