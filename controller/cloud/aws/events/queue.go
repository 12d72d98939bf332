package events

import (
	"context"
	"math"
	"strconv"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/wait"

	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
)

// How the queue is read: up to ten messages at a time, waiting for them as long
// as SQS lets one wait, so that an idle queue costs three calls a minute.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html
const (
	queueBatch = 10
	queueWait  = 20
	// handleTime bounds the handling of one batch.
	handleTime = 20 * time.Second
)

// queuePauses are the pauses after failures that follow each other: short first, since an
// interrupted node has two minutes, then as long as a call to an idle queue takes.
func queuePauses() wait.Backoff {
	return wait.Backoff{Duration: 500 * time.Millisecond, Factor: 2, Steps: math.MaxInt, Cap: queueWait * time.Second}
}

// Queue is the SQS queue of interruptions.
type Queue struct {
	SQS client.SQS
	// Name is the queue's; empty when there is none.
	Name  string
	Clock func() time.Time
	Log   logr.Logger
	// Metrics counts messages; nil counts nothing.
	Metrics *Metrics
	// Interrupted is told the id of each spot instance that is taken back.
	Interrupted func(ctx context.Context, instanceID string)
}

// Listen reads the interruption queue until the context ends, and hands
// every announcement to handle. A message is deleted once handle took all its
// events; after an error it comes again when its visibility timeout is over. What
// cannot be read is counted and dropped. Without a configured queue it returns at once.
func (q *Queue) Listen(ctx context.Context, handle provider.EventHandler) {
	if q.Name == "" {
		return
	}
	url, pauses := "", queuePauses()
	for ctx.Err() == nil {
		err := q.listen(ctx, &url, handle)
		if err == nil {
			pauses = queuePauses()
			continue
		}
		if ctx.Err() == nil {
			pause := pauses.Step()
			q.Log.Error(err, "read the interruption queue again", "queue", q.Name, "after", pause)
			client.Pause(ctx, pause)
		}
	}
}

// listen receives one batch and deals with it.
func (q *Queue) listen(ctx context.Context, url *string, handle provider.EventHandler) error {
	if *url == "" {
		out, err := q.SQS.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: sdk.String(q.Name)})
		if err != nil {
			return client.Fault(err, "find queue %s", q.Name)
		}
		*url = sdk.ToString(out.QueueUrl)
	}
	out, err := q.SQS.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: url, MaxNumberOfMessages: queueBatch, WaitTimeSeconds: queueWait,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameSentTimestamp},
	})
	if err != nil {
		failure := client.Fault(err, "receive from queue %s", q.Name)
		if provider.KindOf(failure) == provider.NotFound {
			*url = "" // made anew, perhaps
		}
		return failure
	}
	ctx, cancel := context.WithTimeout(ctx, handleTime)
	defer cancel()
	// At the same time: a hundred nodes may be interrupted at once, and they
	// have two minutes together.
	var work sync.WaitGroup
	for i := range out.Messages {
		work.Go(func() { q.message(ctx, *url, &out.Messages[i], handle) })
	}
	work.Wait()
	return nil
}

// message deals with one message, and deletes it when that is done.
func (q *Queue) message(ctx context.Context, url string, m *types.Message, handle provider.EventHandler) {
	events, err := parseEvents(sdk.ToString(m.Body))
	if err != nil {
		q.Metrics.dropped()
		q.Log.Error(err, "drop a message of the interruption queue", "message", sdk.ToString(m.MessageId))
	}
	for _, e := range events {
		q.Metrics.receive(e.Kind)
		if e.Kind == provider.NoOp {
			continue
		}
		if e.Kind == provider.SpotInterrupted {
			q.Interrupted(ctx, e.InstanceID)
		}
		if err := handle(ctx, e); err != nil {
			q.Log.Error(err, "event comes again", "kind", e.Kind, "instance", e.InstanceID)
			return
		}
	}
	_, err = q.SQS.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: sdk.String(url), ReceiptHandle: m.ReceiptHandle})
	if err != nil {
		q.Log.Error(client.Fault(err, "delete message %s", sdk.ToString(m.MessageId)), "event comes again")
		return
	}
	q.Metrics.handled(q.queuedFor(m))
}

// queuedFor is how long the message waited.
func (q *Queue) queuedFor(m *types.Message) time.Duration {
	ms, err := strconv.ParseInt(m.Attributes[string(types.MessageSystemAttributeNameSentTimestamp)], 10, 64)
	if err != nil {
		return 0
	}
	return q.Clock().Sub(time.UnixMilli(ms))
}
