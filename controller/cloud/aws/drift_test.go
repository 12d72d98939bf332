package aws_test

import (
	"testing"
	"time"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

func TestDrifted(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		change func(*simulatedEC2, *awsv1.EC2NodeClass, map[string]string)
		want   provider.DriftReason
	}{
		"nothing": {"as launched", func(*simulatedEC2, *awsv1.EC2NodeClass, map[string]string) {}, provider.NotDrifted},
		"image": {"a newer image is selected", func(_ *simulatedEC2, c *awsv1.EC2NodeClass, _ map[string]string) {
			for i := range c.Status.AMIs {
				c.Status.AMIs[i].ID = "ami-0123"
			}
		}, provider.AMIDrift},
		"image of another architecture": {"the image must fit the type", func(_ *simulatedEC2, c *awsv1.EC2NodeClass, _ map[string]string) {
			for i := range c.Status.AMIs {
				c.Status.AMIs[i].Requirements[0].Values = []string{"arm64"}
			}
		}, provider.AMIDrift},
		"subnet": {"the subnet is not selected any more", func(_ *simulatedEC2, c *awsv1.EC2NodeClass, _ map[string]string) {
			c.Status.Subnets = []awsv1.Subnet{{ID: "subnet-1", Zone: "us-west-2a"}}
		}, provider.SubnetDrift},
		"security group": {"another one was added", func(_ *simulatedEC2, c *awsv1.EC2NodeClass, _ map[string]string) {
			c.Status.SecurityGroups = append(c.Status.SecurityGroups, awsv1.SecurityGroup{ID: "sg-1"})
		}, provider.SecurityGroupDrift},
		"class": {"user data changed", func(_ *simulatedEC2, c *awsv1.EC2NodeClass, _ map[string]string) {
			c.Spec.Tags = map[string]string{"team": "other"}
		}, provider.NodeClassDrift},
		"hash of another version": {"cannot be compared", func(_ *simulatedEC2, c *awsv1.EC2NodeClass, a map[string]string) {
			c.Spec.Tags = map[string]string{"team": "other"}
			a[awsv1.AnnotationEC2NodeClassHashVersion] = "v5"
		}, provider.NotDrifted},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEC2(t)
			attempt := w.prepare(t, spec("a", option("m7i.large", "us-west-2a", model.OnDemand)))
			i, err := w.provider.Launch(t.Context(), attempt)
			if err != nil {
				t.Fatal(err)
			}
			w.clock.Step(3 * time.Minute)
			c.change(w, w.classes["default"], attempt.Annotations)
			got, err := w.provider.Drifted(t.Context(), provider.Launched{ProviderID: i.ProviderID, NodeClass: "default", Annotations: attempt.Annotations})
			if err != nil || got.Reason != c.want || (got.Message == "") != (c.want == provider.NotDrifted) {
				t.Errorf("%s: %+v, %v, want %q", c.reason, got, err, c.want)
			}
		})
	}
}

func TestDriftedWithoutAnAnswer(t *testing.T) {
	w := newEC2(t)
	_, err := w.provider.Drifted(t.Context(), provider.Launched{ProviderID: "aws:///us-west-2a/i-0123456789abcdef0", NodeClass: "default"})
	wantKind(t, err, provider.NotFound)
	_, err = w.provider.Drifted(t.Context(), provider.Launched{ProviderID: "aws:///us-west-2a/i-0123456789abcdef0", NodeClass: "none"})
	wantKind(t, err, provider.ClassNotReady)
}
