package e2e

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/apimachinery/pkg/types"

	awsv1 "spokeshave.dev/api/aws/v1"
)

// TestLeakedInstance: an instance that says it is ours, and that no claim
// knows, is terminated; one of somebody else is left alone.
func TestLeakedInstance(t *testing.T) {
	t.Parallel()
	l := newTenant(t, "leak", plan{types: "t3.small", capacity: "on-demand"})
	class := &awsv1.EC2NodeClass{}
	l.until("the node class to be resolved", func(ctx context.Context) (string, bool) {
		err := stack.Client.Get(ctx, types.NamespacedName{Name: "default"}, class)
		return "not resolved", err == nil && len(class.Status.AMIs) > 0 && len(class.Status.Subnets) > 0
	})
	launch := func(tags map[string]string) string {
		spec := ec2types.TagSpecification{ResourceType: ec2types.ResourceTypeInstance}
		for k, v := range tags {
			spec.Tags = append(spec.Tags, ec2types.Tag{Key: aws.String(k), Value: aws.String(v)})
		}
		out, err := stack.EC2.RunInstances(t.Context(), &ec2.RunInstancesInput{
			MinCount: aws.Int32(1), MaxCount: aws.Int32(1), InstanceType: ec2types.InstanceTypeT3Small,
			ImageId: aws.String(image(class)), SubnetId: aws.String(class.Status.Subnets[0].ID),
			TagSpecifications: []ec2types.TagSpecification{spec},
		})
		if err != nil {
			t.Fatal(err)
		}
		return aws.ToString(out.Instances[0].InstanceId)
	}
	foreign := launch(map[string]string{"Name": "somebody else's"})
	leaked := launch(map[string]string{
		"eks:eks-cluster-name": "spokeshave", "kubernetes.io/cluster/spokeshave": "owned",
		"karpenter.sh/nodepool": l.name, "karpenter.sh/nodeclaim": l.name + "-none", "karpenter.k8s.aws/ec2nodeclass": "default",
	})
	// Half a minute of grace, because EC2 is eventually consistent.
	err := stack.Until(t.Context(), "the leaked instance to be terminated", 90*time.Second, func(ctx context.Context) (string, bool) {
		return leaked + " is there", !alive(ctx, leaked)
	})
	if err != nil {
		t.Fatal(err)
	}
	if !alive(t.Context(), foreign) {
		t.Error("an instance of somebody else was terminated")
	}
	if _, err := stack.EC2.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{foreign}}); err != nil {
		t.Error(err)
	}
}

func image(class *awsv1.EC2NodeClass) string {
	for _, a := range class.Status.AMIs {
		for _, r := range a.Requirements {
			if slices.Contains(r.Values, "amd64") {
				return a.ID
			}
		}
	}
	return class.Status.AMIs[0].ID
}

func alive(ctx context.Context, id string) bool {
	all, err := stack.Instances(ctx)
	for _, i := range all {
		if i.ID == id {
			return true
		}
	}
	return err != nil
}
