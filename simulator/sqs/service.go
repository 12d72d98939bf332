// Package sqs is a few standard queues of SQS: send, receive with a visibility
// timeout and long polling, delete. Queues exist from the start.
package sqs

import (
	"fmt"
	"time"

	"spokeshave.dev/simulator/ids"
	"spokeshave.dev/simulator/operation"
)

// queue is a standard queue.
type queue struct {
	name     string
	messages []*message
}

type message struct {
	id, body, receipt string
	sent, firstSeen   time.Time
	visibleAt         time.Time
	received          int
}

// Service is SQS for one account. It is not safe for concurrent use.
type Service struct {
	account ids.Account
	ids     *ids.Source
	queues  map[string]*queue
	// arrived is called when a message reaches a queue.
	arrived func()
}

// New is SQS with empty queues of the names given. arrived is called whenever a
// message reaches one of them, so that receivers can be asked again.
func New(account ids.Account, source *ids.Source, arrived func(), names ...string) *Service {
	s := &Service{account: account, ids: source, queues: make(map[string]*queue), arrived: arrived}
	for _, name := range names {
		s.queues[name] = &queue{name: name}
	}
	return s
}

// Operations are the actions that this service answers.
func (s *Service) Operations() map[string]operation.Operation {
	return map[string]operation.Operation{
		"GetQueueUrl":    operation.JSON(s.getQueueURL),
		"SendMessage":    operation.JSON(s.sendMessage),
		"ReceiveMessage": operation.JSON(s.receiveMessage),
		"DeleteMessage":  operation.JSON(s.deleteMessage),
	}
}

// Put appends a message to a queue, and says when there is no such queue.
func (s *Service) Put(name, body string, now time.Time) error {
	q := s.queues[name]
	if q == nil {
		return fmt.Errorf("put message: no queue %q", name)
	}
	s.append(q, body, now)
	return nil
}

// Lengths are the numbers of messages that are not deleted, by queue.
func (s *Service) Lengths() map[string]int {
	out := make(map[string]int, len(s.queues))
	for name, q := range s.queues {
		out[name] = len(q.messages)
	}
	return out
}

func (s *Service) append(q *queue, body string, now time.Time) *message {
	m := &message{id: s.ids.UUID(), body: body, sent: now, visibleAt: now}
	q.messages = append(q.messages, m)
	s.arrived()
	return m
}
