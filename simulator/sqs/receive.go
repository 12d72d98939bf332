package sqs

import (
	"slices"
	"strconv"
	"time"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/operation"
)

type receiveRequest struct {
	QueueURL                    string `json:"QueueUrl"`
	AttributeNames              []string
	MessageSystemAttributeNames []string
	MessageAttributeNames       []string
	MaxNumberOfMessages         int
	VisibilityTimeout           *int
	WaitTimeSeconds             int
	ReceiveRequestAttemptID     string `json:"ReceiveRequestAttemptId"`
}

type receivedMessage struct {
	ID         string `json:"MessageId"`
	Receipt    string `json:"ReceiptHandle"`
	Checksum   string `json:"MD5OfBody"`
	Body       string
	Attributes map[string]string `json:",omitempty"`
}

// receiveMessage takes up to ten messages off for the visibility timeout, and
// waits for one when asked to.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html
func (s *Service) receiveMessage(c *operation.Call, in *receiveRequest) (any, error) {
	q, err := s.queue(in.QueueURL)
	if err != nil {
		return nil, err
	}
	if in.MaxNumberOfMessages == 0 {
		in.MaxNumberOfMessages = 1
	}
	hidden := 30
	if in.VisibilityTimeout != nil {
		hidden = *in.VisibilityTimeout
	}
	switch {
	case in.MaxNumberOfMessages < 1 || in.MaxNumberOfMessages > 10:
		return nil, awserr.New(awserr.InvalidValue, "Value %d for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.", in.MaxNumberOfMessages)
	case in.WaitTimeSeconds < 0 || in.WaitTimeSeconds > 20:
		return nil, awserr.New(awserr.InvalidValue, "Value %d for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided.", in.WaitTimeSeconds)
	case hidden < 0 || hidden > 43200:
		return nil, awserr.New(awserr.InvalidValue, "Value %d for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and 43200.", hidden)
	}
	names := append(in.AttributeNames, in.MessageSystemAttributeNames...)
	out := []receivedMessage{}
	for _, m := range q.messages {
		if len(out) == in.MaxNumberOfMessages {
			break
		}
		if c.Now.Before(m.visibleAt) {
			continue
		}
		if m.firstSeen.IsZero() {
			m.firstSeen = c.Now
		}
		m.received++
		m.receipt = s.ids.UUID()
		m.visibleAt = c.Now.Add(time.Duration(hidden) * time.Second)
		out = append(out, receivedMessage{m.id, m.receipt, checksum(m.body), m.body, m.attributes(names)})
	}
	waitFor(c, len(out) > 0, in.WaitTimeSeconds)
	return map[string]any{"Messages": out}, nil
}

// waitFor lets an empty answer wait, once.
func waitFor(c *operation.Call, found bool, seconds int) {
	switch {
	case found:
		c.Wait = 0
	case c.Wait == 0:
		c.Wait = time.Duration(seconds) * time.Second
	}
}

func (m *message) attributes(names []string) map[string]string {
	all := map[string]string{
		"SentTimestamp":                    strconv.FormatInt(m.sent.UnixMilli(), 10),
		"ApproximateReceiveCount":          strconv.Itoa(m.received),
		"ApproximateFirstReceiveTimestamp": strconv.FormatInt(m.firstSeen.UnixMilli(), 10),
	}
	out := make(map[string]string)
	for name, value := range all {
		if slices.Contains(names, "All") || slices.Contains(names, name) {
			out[name] = value
		}
	}
	return out
}
