package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// Instance is an instance that is not terminated.
type Instance struct {
	ID, Type, Zone, Claim, Pool string
	State                       ec2types.InstanceStateName
	Spot                        bool
}

func ec2Client(ctx context.Context, url string) (*ec2.Client, error) {
	cfg, err := sdkConfig(ctx)
	if err != nil {
		return nil, err
	}
	return ec2.NewFromConfig(cfg, func(o *ec2.Options) { o.BaseEndpoint = aws.String(url) }), nil
}

func sdkConfig(ctx context.Context) (aws.Config, error) {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(Region),
		config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("demo", "demo", "")))
	if err != nil {
		return cfg, fmt.Errorf("configure the AWS client: %w", err)
	}
	return cfg, nil
}

// Instances are those that run or are about to, sorted by id, asked of EC2.
func (s *Stack) Instances(ctx context.Context) ([]Instance, error) {
	pages := ec2.NewDescribeInstancesPaginator(s.EC2, &ec2.DescribeInstancesInput{
		Filters: []ec2types.Filter{{
			Name:   aws.String("instance-state-name"),
			Values: []string{"pending", "running", "stopping", "stopped"},
		}},
	})
	found := map[string]Instance{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list instances: %w", err)
		}
		for _, r := range page.Reservations {
			for i := range r.Instances {
				one := instance(&r.Instances[i])
				found[one.ID] = one
			}
		}
	}
	out := make([]Instance, 0, len(found))
	for _, id := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[id])
	}
	return out, nil
}

func instance(i *ec2types.Instance) Instance {
	out := Instance{
		ID: aws.ToString(i.InstanceId), Type: string(i.InstanceType), State: i.State.Name,
		Spot: i.InstanceLifecycle == ec2types.InstanceLifecycleTypeSpot,
	}
	if i.Placement != nil {
		out.Zone = aws.ToString(i.Placement.AvailabilityZone)
	}
	for _, t := range i.Tags {
		switch aws.ToString(t.Key) {
		case "karpenter.sh/nodeclaim":
			out.Claim = aws.ToString(t.Value)
		case "karpenter.sh/nodepool":
			out.Pool = aws.ToString(t.Value)
		}
	}
	return out
}

// SendInterruption puts a message on the interruption queue, whatever it says.
func (s *Stack) SendInterruption(ctx context.Context, body string) error {
	cfg, err := sdkConfig(ctx)
	if err != nil {
		return err
	}
	client := sqs.NewFromConfig(cfg, func(o *sqs.Options) { o.BaseEndpoint = aws.String(s.EC2URL()) })
	queue, err := client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(s.opts.Cluster)})
	if err != nil {
		return fmt.Errorf("find the interruption queue: %w", err)
	}
	if _, err := client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: queue.QueueUrl, MessageBody: aws.String(body)}); err != nil {
		return fmt.Errorf("send to the interruption queue: %w", err)
	}
	return nil
}

// Control talks to ec2sim's control API: it posts in, unless in is nil, and
// decodes the answer into out, unless out is nil.
func (s *Stack) Control(ctx context.Context, path string, in, out any) error {
	method, body := http.MethodGet, []byte(nil)
	if in != nil {
		method = http.MethodPost
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("encode order for %s: %w", path, err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, s.EC2URL()+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("call %s: %w", path, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("call %s: %w", path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return fmt.Errorf("call %s: %w", path, err)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("call %s: %s: %s", path, resp.Status, answer)
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("read answer of %s: %w", path, err)
	}
	return nil
}
