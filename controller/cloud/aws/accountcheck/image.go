package accountcheck

import (
	"context"
	"errors"
	"fmt"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
)

// parameters are the SSM parameters of the images for x86_64, the first of which is launched.
// https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html
// https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id-bottlerocket.html
func parameters(version string) []string {
	return []string{
		"/aws/service/eks/optimized-ami/" + version + "/amazon-linux-2023/x86_64/standard/recommended/image_id",
		"/aws/service/bottlerocket/aws-k8s-" + version + "/x86_64/latest/image_id",
	}
}

func images(ctx context.Context, a *account) (string, error) {
	found := []string{}
	for _, name := range parameters(a.version) {
		out, err := a.aws.SSM.GetParameter(ctx, &ssm.GetParameterInput{Name: &name})
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		found = append(found, sdk.ToString(out.Parameter.Value))
	}
	out, err := a.aws.EC2.DescribeImages(ctx, &ec2.DescribeImagesInput{ImageIds: found})
	if err != nil {
		return "", err
	}
	if len(out.Images) != len(found) {
		return "", fmt.Errorf("%d of %d images are known to EC2", len(out.Images), len(found))
	}
	for i := range out.Images {
		if arch := out.Images[i].Architecture; arch != "x86_64" {
			return "", fmt.Errorf("%s is of %s, want x86_64", sdk.ToString(out.Images[i].ImageId), arch)
		}
	}
	a.images = found
	return fmt.Sprintf("%v for Kubernetes %s", found, a.version), nil
}

// missingProfile is the name of an instance profile that nobody has.
const missingProfile = "spokeshave-check-of-a-missing-profile"

func profiles(ctx context.Context, a *account) (string, error) {
	n := 0
	pages := iam.NewListInstanceProfilesPaginator(a.aws.IAM, &iam.ListInstanceProfilesInput{PathPrefix: sdk.String("/karpenter/")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return "", err
		}
		n += len(page.InstanceProfiles)
	}
	_, err := a.aws.IAM.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: sdk.String(missingProfile)})
	if err := refused(err, provider.NotFound); err != nil {
		return "", fmt.Errorf("a missing profile: %w", err)
	}
	return fmt.Sprintf("%d of Karpenter's path; a missing one is refused as such", n), nil
}

// refused returns nil for an error that the provider reads as the given kind.
func refused(err error, kind provider.Kind) error {
	if err == nil {
		return errors.New("it was not refused")
	}
	if got, code := client.Classify(err); got != kind {
		return fmt.Errorf("error code %q is read as %v, want %v: %w", code, got, kind, err)
	}
	return nil
}
