package attack

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/test/kit/harness"
)

// queueAttacks are messages to the interruption queue by somebody who may write to it.
func queueAttacks() map[string]attack {
	const keeps = "nodes and pods of others"
	return map[string]attack{
		"account/message-about-strangers": {
			story: "somebody sends the notice of a spot instance that is not ours", want: "it leaves the queue, and nothing is drained", keeps: keeps,
			run: func(t *testing.T) {
				send(t, `{"detail-type":"EC2 Spot Instance Interruption Warning","source":"aws.ec2","time":"2026-01-01T00:00:00Z","detail":{"instance-id":"i-0123456789abcdef0","instance-action":"terminate"}}`)
				drained(t)
			},
		},
		"account/garbage-messages": {
			story: "somebody sends messages that nobody can read: no JSON, nested brackets, numbers in place of names", want: "they are counted and leave the queue", keeps: keeps,
			run: garbageMessages,
		},
		"account/message-flood": {
			story: "somebody sends a hundred messages of 200 KB", want: "the queue is read to its end, and pods get nodes meanwhile", keeps: keeps + ", the controller's memory",
			memory: true, launches: true, run: func(t *testing.T) {
				serve(t)
				for range 100 {
					send(t, `{"detail-type":"EC2 Instance Rebalance Recommendation","source":"aws.ec2","detail":{"instance-id":"i-0","note":"`+strings.Repeat("x", 200<<10)+`"}}`)
				}
				serve(t)
				drained(t)
			},
		},
	}
}

func send(t *testing.T, body string) {
	t.Helper()
	if err := stack.SendInterruption(t.Context(), body); err != nil {
		t.Fatal(err)
	}
}

// drained waits until the queue is empty, and a moment longer.
func drained(t *testing.T) {
	t.Helper()
	until(t, "the queue to be read", func(ctx context.Context) (string, bool) {
		var state struct {
			Messages map[string]int `json:"messages"`
		}
		if err := stack.Control(ctx, "/_sim/state", nil, &state); err != nil {
			return err.Error(), false
		}
		return fmt.Sprintf("%v", state.Messages), state.Messages[harness.ClusterName] == 0
	})
	steadyFor(t, 2*time.Second)
}

func garbageMessages(t *testing.T) {
	before := number(t, "spokeshave_interruption_malformed_messages_total", "")
	for _, body := range []string{
		"this is no event", strings.Repeat("[", 50_000), `{"source": 7, "detail-type": [], "detail": "none"}`,
		`{"detail-type":"EC2 Spot Instance Interruption Warning","source":"aws.ec2","detail":{"instance-id":{"i-0":1}}}`, "\x01\x02",
	} {
		send(t, body)
	}
	drained(t)
	if now := number(t, "spokeshave_interruption_malformed_messages_total", ""); now < before+4 {
		t.Errorf("%v of 5 messages were counted as malformed", now-before)
	}
}
