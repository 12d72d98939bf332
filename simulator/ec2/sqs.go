package sim

import (
	"crypto/md5" //nolint:gosec // SQS's checksum of messages, not a secret
	"encoding/hex"
	"path"
	"slices"
	"strconv"
	"time"
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

func sqsOperations() map[string]operation {
	return map[string]operation{
		"GetQueueUrl":    takesJSON(getQueueURL),
		"SendMessage":    takesJSON(sendMessage),
		"ReceiveMessage": takesJSON(receiveMessage),
		"DeleteMessage":  takesJSON(deleteMessage),
	}
}

const noQueue = "com.amazonaws.sqs#QueueDoesNotExist"

// queryName is an error's name in SQS's older protocol.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/CommonErrors.html
func queryName(code string) string {
	if code == noQueue {
		return "AWS.SimpleQueueService.NonExistentQueue"
	}
	return code
}

type queueURLRequest struct {
	QueueName              string
	QueueOwnerAWSAccountId string
}

// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueUrl.html
func getQueueURL(s *Server, _ *call, in *queueURLRequest) (any, error) {
	if s.state.queues[in.QueueName] == nil {
		return nil, failf(noQueue, "The specified queue does not exist.")
	}
	return map[string]string{"QueueUrl": "https://sqs." + s.cfg.Region + ".amazonaws.com/" + s.cfg.Account + "/" + in.QueueName}, nil
}

func (s *Server) queue(url string) (*queue, error) {
	if q := s.state.queues[path.Base(url)]; q != nil {
		return q, nil
	}
	return nil, failf(noQueue, "The specified queue does not exist.")
}

type sendRequest struct {
	QueueURL     string `json:"QueueUrl"`
	MessageBody  string
	DelaySeconds int
}

// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
func sendMessage(s *Server, c *call, in *sendRequest) (any, error) {
	q, err := s.queue(in.QueueURL)
	switch {
	case err != nil:
		return nil, err
	case in.MessageBody == "":
		return nil, failf("MissingParameter", "The request must contain the parameter MessageBody.")
	case in.DelaySeconds < 0 || in.DelaySeconds > 900:
		return nil, failf(codeInvalidValue, "Value %d for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.", in.DelaySeconds)
	}
	m := s.put(q, in.MessageBody, c.now)
	m.visibleAt = c.now.Add(time.Duration(in.DelaySeconds) * time.Second)
	return map[string]string{"MessageId": m.id, "MD5OfMessageBody": checksum(m.body)}, nil
}

// put appends a message and wakes the receivers.
func (s *Server) put(q *queue, body string, now time.Time) *message {
	m := &message{id: s.uuid(), body: body, sent: now, visibleAt: now}
	q.messages = append(q.messages, m)
	close(s.arrived)
	s.arrived = make(chan struct{})
	return m
}

func checksum(body string) string {
	sum := md5.Sum([]byte(body)) //nolint:gosec // SQS's checksum of messages, not a secret
	return hex.EncodeToString(sum[:])
}

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
func receiveMessage(s *Server, c *call, in *receiveRequest) (any, error) {
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
		return nil, failf(codeInvalidValue, "Value %d for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.", in.MaxNumberOfMessages)
	case in.WaitTimeSeconds < 0 || in.WaitTimeSeconds > 20:
		return nil, failf(codeInvalidValue, "Value %d for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided.", in.WaitTimeSeconds)
	case hidden < 0 || hidden > 43200:
		return nil, failf(codeInvalidValue, "Value %d for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and 43200.", hidden)
	}
	names := append(in.AttributeNames, in.MessageSystemAttributeNames...)
	out := []receivedMessage{}
	for _, m := range q.messages {
		if len(out) == in.MaxNumberOfMessages {
			break
		}
		if c.now.Before(m.visibleAt) {
			continue
		}
		if m.firstSeen.IsZero() {
			m.firstSeen = c.now
		}
		m.received++
		m.receipt = s.uuid()
		m.visibleAt = c.now.Add(time.Duration(hidden) * time.Second)
		out = append(out, receivedMessage{m.id, m.receipt, checksum(m.body), m.body, m.attributes(names)})
	}
	s.waitFor(c, len(out) > 0, in.WaitTimeSeconds)
	return map[string]any{"Messages": out}, nil
}

// waitFor lets an empty answer wait, once.
func (s *Server) waitFor(c *call, found bool, seconds int) {
	switch {
	case found:
		c.wait = 0
	case c.wait == 0:
		c.wait = time.Duration(seconds) * time.Second
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

type deleteMessageRequest struct {
	QueueURL      string `json:"QueueUrl"`
	ReceiptHandle string
}

// deleteMessage deletes the message that the newest receipt handle names.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessage.html
func deleteMessage(s *Server, _ *call, in *deleteMessageRequest) (any, error) {
	q, err := s.queue(in.QueueURL)
	if err != nil {
		return nil, err
	}
	if len(in.ReceiptHandle) != len("00000000-0000-0000-0000-000000000000") {
		return nil, failf("ReceiptHandleIsInvalid", "The input receipt handle is invalid.")
	}
	q.messages = slices.DeleteFunc(q.messages, func(m *message) bool { return m.receipt == in.ReceiptHandle })
	return struct{}{}, nil
}
