package aws

import (
	"context"
	"strconv"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// How the queue is read: up to ten messages at a time, waiting for them as long
// as SQS lets one wait, so that an idle queue costs three calls a minute.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html
const (
	queueBatch = 10
	queueWait  = 20
	// queuePause follows a failure.
	queuePause = 5 * time.Second
	// handleTime bounds the handling of one batch.
	handleTime = 20 * time.Second
)

// ListenForEvents reads the interruption queue until the context ends, and hands
// every announcement to handle. A message is deleted once handle took all its
// events; after an error it comes again when its visibility timeout is over. What
// cannot be read is counted and dropped. A spot offering whose instance is taken
// back is left alone for a while. Without a configured queue it returns at once.
func (p *Provider) ListenForEvents(ctx context.Context, handle provider.EventHandler) {
	if p.cfg.InterruptionQueue == "" {
		return
	}
	url := ""
	for ctx.Err() == nil {
		if err := p.listen(ctx, &url, handle); err != nil && ctx.Err() == nil {
			p.cfg.Log.Error(err, "read the interruption queue again in a while", "queue", p.cfg.InterruptionQueue)
			pause(ctx, queuePause)
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-ctx.Done()
}

// listen receives one batch and deals with it.
func (p *Provider) listen(ctx context.Context, url *string, handle provider.EventHandler) error {
	if *url == "" {
		out, err := p.sdk.SQS.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: sdk.String(p.cfg.InterruptionQueue)})
		if err != nil {
			return fault(err, "find queue %s", p.cfg.InterruptionQueue)
		}
		*url = sdk.ToString(out.QueueUrl)
	}
	out, err := p.sdk.SQS.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: url, MaxNumberOfMessages: queueBatch, WaitTimeSeconds: queueWait,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameSentTimestamp},
	})
	if err != nil {
		failure := fault(err, "receive from queue %s", p.cfg.InterruptionQueue)
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
		work.Go(func() { p.message(ctx, *url, &out.Messages[i], handle) })
	}
	work.Wait()
	return nil
}

// message deals with one message, and deletes it when that is done.
func (p *Provider) message(ctx context.Context, url string, m *types.Message, handle provider.EventHandler) {
	events, err := parseEvents(sdk.ToString(m.Body))
	if err != nil {
		p.metrics.dropped()
		p.cfg.Log.Error(err, "drop a message of the interruption queue", "message", sdk.ToString(m.MessageId))
	}
	for _, e := range events {
		p.metrics.receive(e.Kind)
		if e.Kind == provider.NoOp {
			continue
		}
		if e.Kind == provider.SpotInterrupted {
			p.lost(ctx, e.InstanceID)
		}
		if err := handle(ctx, e); err != nil {
			p.cfg.Log.Error(err, "event comes again", "kind", e.Kind, "instance", e.InstanceID)
			return
		}
	}
	_, err = p.sdk.SQS.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: sdk.String(url), ReceiptHandle: m.ReceiptHandle})
	if err != nil {
		p.cfg.Log.Error(fault(err, "delete message %s", sdk.ToString(m.MessageId)), "event comes again")
		return
	}
	p.metrics.handled(p.queuedFor(m))
}

// queuedFor is how long the message waited.
func (p *Provider) queuedFor(m *types.Message) time.Duration {
	ms, err := strconv.ParseInt(m.Attributes[string(types.MessageSystemAttributeNameSentTimestamp)], 10, 64)
	if err != nil {
		return 0
	}
	return p.cfg.Clock().Sub(time.UnixMilli(ms))
}

// lost marks the offering of an interrupted spot instance: EC2 needs it itself.
func (p *Provider) lost(ctx context.Context, id string) {
	i, err := p.gets.ask(ctx, id)
	if err != nil || i == nil || i.CapacityType != model.Spot {
		return // not known, then not marked; the next launch finds out
	}
	p.shortage.mark(p.cfg.Clock(), []model.Option{{InstanceType: i.InstanceType, Zone: i.Zone, CapacityType: model.Spot}})
}
