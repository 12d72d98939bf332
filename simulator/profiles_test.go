package simulator_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
)

func TestInstanceProfiles(t *testing.T) {
	w := newEndpoint(t)
	client := iam.NewFromConfig(w.cfg)
	ctx, name := t.Context(), aws.String("demo_profile")
	_, err := client.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: name})
	wantCode(t, err, "NoSuchEntity")
	create := &iam.CreateInstanceProfileInput{InstanceProfileName: name, Tags: []iamtypes.Tag{{Key: aws.String("a"), Value: aws.String("b")}}}
	_, err = client.CreateInstanceProfile(ctx, create)
	wantCode(t, err, "")
	_, err = client.CreateInstanceProfile(ctx, create)
	wantCode(t, err, "EntityAlreadyExists")
	add := &iam.AddRoleToInstanceProfileInput{InstanceProfileName: name, RoleName: aws.String("KarpenterNodeRole-demo")}
	_, err = client.AddRoleToInstanceProfile(ctx, add)
	wantCode(t, err, "")
	_, err = client.AddRoleToInstanceProfile(ctx, add)
	wantCode(t, err, "LimitExceeded")
	_, err = client.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: name, RoleName: aws.String("nobody")})
	wantCode(t, err, "NoSuchEntity")
	_, err = client.TagInstanceProfile(ctx, &iam.TagInstanceProfileInput{InstanceProfileName: name, Tags: []iamtypes.Tag{{Key: aws.String("c"), Value: aws.String("")}}})
	wantCode(t, err, "")
	got, err := client.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: name})
	wantCode(t, err, "")
	if p := got.InstanceProfile; len(p.Tags) != 2 || len(p.Roles) != 1 || *p.Arn != "arn:aws:iam::123456789012:instance-profile/demo_profile" {
		t.Errorf("profile %+v", p)
	}
	list, err := client.ListInstanceProfiles(ctx, &iam.ListInstanceProfilesInput{PathPrefix: aws.String("/")})
	wantCode(t, err, "")
	if len(list.InstanceProfiles) != 1 {
		t.Errorf("%d profiles, want 1", len(list.InstanceProfiles))
	}
	_, err = client.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: name})
	wantCode(t, err, "DeleteConflict")
	_, err = client.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: name, RoleName: add.RoleName})
	wantCode(t, err, "")
	_, err = client.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: name})
	wantCode(t, err, "")
	_, err = client.GetRole(ctx, &iam.GetRoleInput{RoleName: add.RoleName})
	wantCode(t, err, "")
}

func TestLaunchTemplates(t *testing.T) {
	w := newEndpoint(t)
	ctx := t.Context()
	in := &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: aws.String("karpenter.k8s.aws/ami-1/abc"), ClientToken: aws.String("token"),
		LaunchTemplateData: &ec2types.RequestLaunchTemplateData{
			ImageId: aws.String(w.image(t, "arm64")), UserData: aws.String("aGVsbG8="),
			MetadataOptions:     &ec2types.LaunchTemplateInstanceMetadataOptionsRequest{HttpTokens: "required", HttpPutResponseHopLimit: aws.Int32(1)},
			BlockDeviceMappings: []ec2types.LaunchTemplateBlockDeviceMappingRequest{{DeviceName: aws.String("/dev/xvda"), Ebs: &ec2types.LaunchTemplateEbsBlockDeviceRequest{VolumeSize: aws.Int32(20), VolumeType: "gp3", Encrypted: aws.Bool(true)}}},
			NetworkInterfaces:   []ec2types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{{DeviceIndex: aws.Int32(0), Groups: []string{"sg-00000000"}, AssociatePublicIpAddress: aws.Bool(false)}},
		},
		TagSpecifications: []ec2types.TagSpecification{{ResourceType: "launch-template", Tags: []ec2types.Tag{{Key: aws.String("a"), Value: aws.String("b")}}}},
	}
	first, err := w.ec2.CreateLaunchTemplate(ctx, in)
	wantCode(t, err, "")
	again, err := w.ec2.CreateLaunchTemplate(ctx, in)
	wantCode(t, err, "")
	if *first.LaunchTemplate.LaunchTemplateId != *again.LaunchTemplate.LaunchTemplateId {
		t.Error("the same token made another template")
	}
	in.ClientToken = aws.String("other")
	_, err = w.ec2.CreateLaunchTemplate(ctx, in)
	wantCode(t, err, "InvalidLaunchTemplateName.AlreadyExistsException")
	id := first.LaunchTemplate.LaunchTemplateId
	_, err = w.ec2.CreateLaunchTemplateVersion(ctx, &ec2.CreateLaunchTemplateVersionInput{
		LaunchTemplateId: id, SourceVersion: aws.String("1"), LaunchTemplateData: &ec2types.RequestLaunchTemplateData{InstanceType: "m6g.large"},
	})
	wantCode(t, err, "")
	versions, err := w.ec2.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: id, Versions: []string{"$Latest"}})
	wantCode(t, err, "")
	v := versions.LaunchTemplateVersions[0]
	if d := v.LaunchTemplateData; *v.VersionNumber != 2 || d.InstanceType != "m6g.large" || *d.UserData != "aGVsbG8=" || *d.MetadataOptions.HttpPutResponseHopLimit != 1 ||
		*d.BlockDeviceMappings[0].Ebs.VolumeSize != 20 || d.NetworkInterfaces[0].Groups[0] != "sg-00000000" || *d.NetworkInterfaces[0].AssociatePublicIpAddress {
		t.Errorf("version %+v", d)
	}
	list, err := w.ec2.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{Filters: []ec2types.Filter{where("tag:a", "b")}})
	wantCode(t, err, "")
	if len(list.LaunchTemplates) != 1 || *list.LaunchTemplates[0].LatestVersionNumber != 2 {
		t.Errorf("templates %+v", list.LaunchTemplates)
	}
	deleted, err := w.ec2.DeleteLaunchTemplateVersions(ctx, &ec2.DeleteLaunchTemplateVersionsInput{LaunchTemplateId: id, Versions: []string{"1", "2"}})
	wantCode(t, err, "")
	if len(deleted.SuccessfullyDeletedLaunchTemplateVersions) != 1 || len(deleted.UnsuccessfullyDeletedLaunchTemplateVersions) != 1 {
		t.Errorf("deleted %+v, want version 2 and not the default", deleted)
	}
	_, err = w.ec2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: id})
	wantCode(t, err, "")
	_, err = w.ec2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: id})
	wantCode(t, err, "InvalidLaunchTemplateId.NotFound")
	for name, data := range map[string]*ec2types.RequestLaunchTemplateData{
		"user data":            {UserData: aws.String("not base64!")},
		"groups and interface": {SecurityGroupIds: []string{"sg-1"}, NetworkInterfaces: []ec2types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{{DeviceIndex: aws.Int32(0)}}},
		"tokens":               {MetadataOptions: &ec2types.LaunchTemplateInstanceMetadataOptionsRequest{HttpTokens: "maybe"}},
		"big user data":        {UserData: aws.String(strings.Repeat("AAAA", 6000))},
	} {
		if _, err := w.ec2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{LaunchTemplateName: aws.String("refused"), LaunchTemplateData: data}); err == nil {
			t.Errorf("%s: the template was accepted", name)
		}
	}
}
