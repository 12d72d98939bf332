package accountcheck

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"spokeshave.dev/controller/cloud/aws/client"
)

func cluster(ctx context.Context, a *account) (string, error) {
	out, err := a.aws.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: &a.cluster})
	if err != nil {
		return "", err
	}
	c := out.Cluster
	switch {
	case c == nil || sdk.ToString(c.Endpoint) == "":
		return "", errors.New("the answer has no endpoint")
	case c.CertificateAuthority == nil:
		return "", errors.New("the answer has no certificate authority")
	}
	if _, err := base64.StdEncoding.DecodeString(sdk.ToString(c.CertificateAuthority.Data)); err != nil {
		return "", fmt.Errorf("the certificate authority is not base64: %w", err)
	}
	if a.version == "" {
		a.version = sdk.ToString(c.Version)
	}
	services := ""
	if n := c.KubernetesNetworkConfig; n != nil {
		services = sdk.ToString(n.ServiceIpv4Cidr) + sdk.ToString(n.ServiceIpv6Cidr)
	}
	if services == "" {
		return "", errors.New("the answer has no service range")
	}
	return fmt.Sprintf("version %s, services in %s", sdk.ToString(c.Version), services), nil
}

func subnets(ctx context.Context, a *account) (string, error) {
	out, err := a.aws.EC2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: client.TagFilters(map[string]string{"karpenter.sh/discovery": a.discovery})})
	if err != nil {
		return "", err
	}
	var free int32
	inZones := map[string]bool{}
	for _, s := range out.Subnets {
		a.subnets = append(a.subnets, sdk.ToString(s.SubnetId))
		free += sdk.ToInt32(s.AvailableIpAddressCount)
		inZones[sdk.ToString(s.AvailabilityZone)] = true
	}
	if len(a.subnets) == 0 {
		return "", fmt.Errorf("no subnet has the tag karpenter.sh/discovery=%s; see --discovery", a.discovery)
	}
	return fmt.Sprintf("%d in %d zones with %d free addresses", len(a.subnets), len(inZones), free), nil
}

func groups(ctx context.Context, a *account) (string, error) {
	out, err := a.aws.EC2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: client.TagFilters(map[string]string{"karpenter.sh/discovery": a.discovery})})
	if err != nil {
		return "", err
	}
	for _, g := range out.SecurityGroups {
		a.groups = append(a.groups, sdk.ToString(g.GroupId))
	}
	if len(a.groups) == 0 {
		return "", fmt.Errorf("no security group has the tag karpenter.sh/discovery=%s; see --discovery", a.discovery)
	}
	return fmt.Sprintf("%d", len(a.groups)), nil
}

func queue(ctx context.Context, a *account) (string, error) {
	out, err := a.aws.SQS.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &a.queue})
	if err != nil {
		return "", err
	}
	return sdk.ToString(out.QueueUrl), nil
}

func reservations(ctx context.Context, a *account) (string, error) {
	out, err := a.aws.EC2.DescribeCapacityReservations(ctx, &ec2.DescribeCapacityReservationsInput{})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d", len(out.CapacityReservations)), nil
}

func placementGroups(ctx context.Context, a *account) (string, error) {
	out, err := a.aws.EC2.DescribePlacementGroups(ctx, &ec2.DescribePlacementGroupsInput{})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d", len(out.PlacementGroups)), nil
}
