package accountcheck

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"spokeshave.dev/controller/cloud/aws/client"
)

func status(ctx context.Context, a *account) (string, error) {
	n := 0
	for _, filter := range []types.Filter{
		client.Filter("instance-status.status", "impaired"),
		client.Filter("system-status.status", "impaired"),
		client.Filter("event.code", "instance-stop", "instance-retirement", "system-reboot"),
	} {
		out, err := a.aws.EC2.DescribeInstanceStatus(ctx, &ec2.DescribeInstanceStatusInput{Filters: []types.Filter{filter}})
		if err != nil {
			return "", err
		}
		n += len(out.InstanceStatuses)
	}
	return fmt.Sprintf("%d instances are impaired or have an event", n), nil
}
