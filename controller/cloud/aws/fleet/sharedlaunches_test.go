package fleet

import (
	"context"
	"errors"
	"testing"
	"time"

	"spokeshave.dev/controller/cloud/aws/batch"
	"spokeshave.dev/controller/cloud/provider"
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
