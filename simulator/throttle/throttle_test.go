package throttle_test

import (
	"testing"
	"time"

	"spokeshave.dev/simulator/throttle"
)

// TestTake empties each kind of bucket and waits a second.
// https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html
func TestTake(t *testing.T) {
	for name, tc := range map[string]struct {
		reason       string
		call         throttle.Call
		burst, after int
	}{
		"read":           {"100 at once, then 20 a second", throttle.Call{Action: "DescribeSubnets"}, 100, 20},
		"filtered":       {"with a filter or page an instance read is like any other", throttle.Call{Action: "DescribeInstances", Narrowed: true}, 100, 20},
		"unfiltered":     {"without, its bucket is smaller", throttle.Call{Action: "DescribeInstances"}, 50, 10},
		"write":          {"50 at once, then 5 a second", throttle.Call{Action: "CreateFleet"}, 50, 5},
		"RunInstances":   {"a rate of its own", throttle.Call{Action: "RunInstances", Instances: 1}, 5, 2},
		"many instances": {"1000 instances at once, whatever the number of calls", throttle.Call{Action: "RunInstances", Instances: 400}, 2, 0},
		"terminations":   {"1000 at once, then 20 a second", throttle.Call{Action: "TerminateInstances", Instances: 20}, 50, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var b throttle.Buckets
			now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
			drain := func() (n int) {
				for n < 1000 && b.Take(tc.call, now) {
					n++
				}
				return n
			}
			if n := drain(); n != tc.burst {
				t.Errorf("%d calls pass at once, want %d: %s", n, tc.burst, tc.reason)
			}
			now = now.Add(time.Second)
			if n := drain(); n != tc.after {
				t.Errorf("%d calls pass a second later, want %d: %s", n, tc.after, tc.reason)
			}
			other := throttle.Call{Action: "DescribeImages"}
			if !b.Take(other, now) {
				t.Error("an empty bucket refused another action")
			}
		})
	}
}
