package simulator_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"spokeshave.dev/simulator"
)

func TestTagsAndFilters(t *testing.T) {
	w := newEndpoint(t)
	ctx := t.Context()
	in := fleet(w.template(t, "one"), spot, override("m5.large", "us-west-2a", 0))
	in.TargetCapacitySpecification.TotalTargetCapacity = aws.Int32(7)
	out, err := w.ec2.CreateFleet(ctx, in)
	wantCode(t, err, "")
	ids := out.Instances[0].InstanceIds
	_, err = w.ec2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: ids[:2], Tags: []ec2types.Tag{{Key: aws.String("Name"), Value: aws.String("chosen/1")}}})
	wantCode(t, err, "")
	count := func(filters ...ec2types.Filter) (n int) {
		t.Helper()
		pages := ec2.NewDescribeInstancesPaginator(w.ec2, &ec2.DescribeInstancesInput{Filters: filters, MaxResults: aws.Int32(5)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			wantCode(t, err, "")
			for _, r := range page.Reservations {
				n += len(r.Instances)
			}
		}
		return n
	}
	for name, tc := range map[string]struct {
		filters []ec2types.Filter
		want    int
	}{
		"all, in pages":      {nil, 7},
		"tag":                {[]ec2types.Filter{where("tag:Name", "chosen/*")}, 2},
		"tag key":            {[]ec2types.Filter{where("tag-key", "Name", "karpenter.sh/nodepool")}, 7},
		"both must hold":     {[]ec2types.Filter{where("tag:Name", "chosen/?"), where("instance-state-name", "running")}, 0},
		"spot":               {[]ec2types.Filter{where("instance-lifecycle", "spot")}, 7},
		"ID as a filter":     {[]ec2types.Filter{where("instance-id", ids[3], "i-00000000")}, 1},
		"escaped wildcard":   {[]ec2types.Filter{where("tag:Name", `chosen/\*`)}, 0},
		"case of the value":  {[]ec2types.Filter{where("tag:Name", "Chosen/1")}, 0},
		"zone":               {[]ec2types.Filter{where("availability-zone", "us-west-2b")}, 0},
		"state, either one":  {[]ec2types.Filter{where("instance-state-name", "pending", "running")}, 7},
		"pattern in the end": {[]ec2types.Filter{where("instance-type", "m5.*", "c?.*")}, 7},
	} {
		if got := count(tc.filters...); got != tc.want {
			t.Errorf("%s: %d instances, want %d", name, got, tc.want)
		}
	}
	_, err = w.ec2.DeleteTags(ctx, &ec2.DeleteTagsInput{Resources: ids[:1], Tags: []ec2types.Tag{{Key: aws.String("Name")}}})
	wantCode(t, err, "")
	described, err := w.ec2.DescribeTags(ctx, &ec2.DescribeTagsInput{Filters: []ec2types.Filter{where("key", "Name"), where("resource-type", "instance")}})
	wantCode(t, err, "")
	if len(described.Tags) != 1 || *described.Tags[0].ResourceId != ids[1] {
		t.Errorf("tags %+v, want one of %s", described.Tags, ids[1])
	}
	var many []ec2types.Tag
	for n := range 50 {
		many = append(many, ec2types.Tag{Key: aws.String(fmt.Sprint("key", n)), Value: aws.String("")})
	}
	_, err = w.ec2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: ids[:1], Tags: many})
	wantCode(t, err, "TagLimitExceeded")
	_, err = w.ec2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{"i-00000000"}, Tags: many[:1]})
	wantCode(t, err, "InvalidInstanceID.NotFound")
	_, err = w.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{ids[0], "i-00000000"}})
	wantCode(t, err, "InvalidInstanceID.NotFound")
	if n := w.server.State().Running; n != 7 {
		t.Errorf("%d instances run after a refused TerminateInstances, want 7", n)
	}
	attribute, err := w.ec2.DescribeInstanceAttribute(ctx, &ec2.DescribeInstanceAttributeInput{InstanceId: &ids[0], Attribute: "userData"})
	wantCode(t, err, "")
	if *attribute.UserData.Value != "aGVsbG8=" {
		t.Errorf("user data %q", *attribute.UserData.Value)
	}
	volumes, err := w.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{Filters: []ec2types.Filter{where("attachment.instance-id", ids[0])}})
	wantCode(t, err, "")
	if len(volumes.Volumes) != 1 || *volumes.Volumes[0].Size != 20 {
		t.Errorf("volumes %+v", volumes.Volumes)
	}
}

func TestRunInstances(t *testing.T) {
	w := newEndpoint(t)
	in := &ec2.RunInstancesInput{MinCount: aws.Int32(2), MaxCount: aws.Int32(3), InstanceType: "m6g.large", ImageId: aws.String(w.image(t, "arm64")), DryRun: aws.Bool(true)}
	_, err := w.ec2.RunInstances(t.Context(), in)
	wantCode(t, err, "DryRunOperation")
	in.DryRun, in.ClientToken = nil, nil // the SDK has made up a token
	out, err := w.ec2.RunInstances(t.Context(), in)
	wantCode(t, err, "")
	if len(out.Instances) != 3 || out.Instances[0].State.Name != "pending" {
		t.Errorf("%d instances, want 3 pending ones", len(out.Instances))
	}
	if err := w.server.SetCapacity([]simulator.Capacity{{Type: "m6g.large", Zone: "us-west-2a", CapacityType: "on-demand", Free: aws.Int(1)}}); err != nil {
		t.Fatal(err)
	}
	in.ClientToken = nil
	_, err = w.ec2.RunInstances(t.Context(), in)
	wantCode(t, err, "InsufficientInstanceCapacity")
	if n := w.server.State().Running; n != 3 {
		t.Errorf("%d instances run after a refused RunInstances, want 3", n)
	}
	in.InstanceType, in.ClientToken = "m5.large", nil
	_, err = w.ec2.RunInstances(t.Context(), in)
	wantCode(t, err, "InvalidParameterValue") // its image is for arm64
}
