// Package ec2provider is the provider for EC2 in tests, on an endpoint of
// test/kit/ec2, and node classes that find what the endpoint has.
package ec2provider

import (
	"context"
	"testing"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/test/kit/ec2"
)

// New is a provider that has just started: it remembers nothing. Its clock is the
// machine's, and classes finds no node class, unless changes say otherwise.
func New(t testing.TB, url string, changes ...func(*aws.Config)) *aws.Provider {
	t.Helper()
	client := ec2.SDK(url)
	cfg := aws.Config{
		SDK: &client, ClusterName: ec2.Cluster, Clock: clock.RealClock{}.Now, Log: logr.Discard(),
		Classes: func(context.Context, string) (*awsv1.EC2NodeClass, error) { return nil, nil },
	}
	for _, change := range changes {
		change(&cfg)
	}
	p, err := aws.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// WithoutRetries makes the SDK report the first failure of every call.
func WithoutRetries(c *aws.Config) { *c.SDK = ec2.WithoutRetries(*c.SDK) }

// NodeClass is a node class that finds the endpoint's subnets and security groups, with
// the images that the terms choose; its status is empty.
func NodeClass(name string, images ...awsv1.AMISelectorTerm) *awsv1.EC2NodeClass {
	discovery := map[string]string{"karpenter.sh/discovery": ec2.Cluster}
	return &awsv1.EC2NodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1},
		Spec: awsv1.EC2NodeClassSpec{
			Role:                       "KarpenterNodeRole-" + ec2.Cluster,
			AMISelectorTerms:           images,
			SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: discovery}},
			SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: discovery}},
		},
	}
}
