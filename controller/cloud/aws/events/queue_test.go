package events

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/cloud/aws/client"
)

// brokenQueue is SQS that answers the calls of ReceiveMessage whose number is in answers
// with no message, refuses all others, and records how long after the one before each comes.
type brokenQueue struct {
	client.SQS
	answers map[int]bool
	after   []time.Duration
	last    time.Time
}

func (*brokenQueue) GetQueueUrl(context.Context, *sqs.GetQueueUrlInput, ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error) {
	return &sqs.GetQueueUrlOutput{QueueUrl: sdk.String("https://sqs/demo")}, nil
}

func (q *brokenQueue) ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error) {
	now := time.Now()
	q.after, q.last = append(q.after, now.Sub(q.last)), now
	if q.answers[len(q.after)] {
		return &sqs.ReceiveMessageOutput{}, nil
	}
	return nil, errors.New("not now")
}

// One failure costs half a second of the two minutes that an interrupted node has; a queue that
// stays away is asked three times a minute; an answer makes the pauses short again.
func TestPausesOfTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := &brokenQueue{answers: map[int]bool{9: true}, last: time.Now()}
		ctx, cancel := context.WithTimeout(t.Context(), 77*time.Second)
		defer cancel()
		(&Queue{SQS: broken, Name: "demo", Clock: time.Now}).Listen(ctx, nil)
		want := []time.Duration{0, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 20 * time.Second, 20 * time.Second, 0, 500 * time.Millisecond, time.Second, 2 * time.Second}
		if diff := cmp.Diff(want, broken.after); diff != "" {
			t.Errorf("time between calls, the ninth of which is answered (-want +got):\n%s", diff)
		}
	})
}
