package sqs

import (
	"crypto/md5" //nolint:gosec // SQS's checksum of messages, not a secret
	"encoding/hex"
	"path"
	"slices"
	"time"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/operation"
)

const noQueue = "com.amazonaws.sqs#QueueDoesNotExist"

type queueURLRequest struct {
	QueueName              string
	QueueOwnerAWSAccountId string
}

// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueUrl.html
func (s *Service) getQueueURL(_ *operation.Call, in *queueURLRequest) (any, error) {
	if s.queues[in.QueueName] == nil {
		return nil, awserr.New(noQueue, "The specified queue does not exist.")
	}
	return map[string]string{"QueueUrl": "https://sqs." + s.account.Region + ".amazonaws.com/" + s.account.ID + "/" + in.QueueName}, nil
}

func (s *Service) queue(url string) (*queue, error) {
	if q := s.queues[path.Base(url)]; q != nil {
		return q, nil
	}
	return nil, awserr.New(noQueue, "The specified queue does not exist.")
}

type sendRequest struct {
	QueueURL     string `json:"QueueUrl"`
	MessageBody  string
	DelaySeconds int
}

// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
func (s *Service) sendMessage(c *operation.Call, in *sendRequest) (any, error) {
	q, err := s.queue(in.QueueURL)
	switch {
	case err != nil:
		return nil, err
	case in.MessageBody == "":
		return nil, awserr.New("MissingParameter", "The request must contain the parameter MessageBody.")
	case in.DelaySeconds < 0 || in.DelaySeconds > 900:
		return nil, awserr.New(awserr.InvalidValue, "Value %d for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.", in.DelaySeconds)
	}
	m := s.append(q, in.MessageBody, c.Now)
	m.visibleAt = c.Now.Add(time.Duration(in.DelaySeconds) * time.Second)
	return map[string]string{"MessageId": m.id, "MD5OfMessageBody": checksum(m.body)}, nil
}

func checksum(body string) string {
	sum := md5.Sum([]byte(body)) //nolint:gosec // SQS's checksum of messages, not a secret
	return hex.EncodeToString(sum[:])
}

type deleteMessageRequest struct {
	QueueURL      string `json:"QueueUrl"`
	ReceiptHandle string
}

// deleteMessage deletes the message that the newest receipt handle names.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessage.html
func (s *Service) deleteMessage(_ *operation.Call, in *deleteMessageRequest) (any, error) {
	q, err := s.queue(in.QueueURL)
	if err != nil {
		return nil, err
	}
	if len(in.ReceiptHandle) != len("00000000-0000-0000-0000-000000000000") {
		return nil, awserr.New("ReceiptHandleIsInvalid", "The input receipt handle is invalid.")
	}
	q.messages = slices.DeleteFunc(q.messages, func(m *message) bool { return m.receipt == in.ReceiptHandle })
	return struct{}{}, nil
}
