package aws

import (
	"context"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	awsv1 "spokeshave.dev/api/aws/v1"
)

// unusedFor is how long nothing was launched from a template, and how old a
// profile is, before it is deleted. A template that is needed after all is made
// again; an account has 5,000 of them.
const unusedFor = time.Hour

// SweepTemplates deletes this cluster's launch templates that were not used in a
// while, and says how many.
func (p *Provider) SweepTemplates(ctx context.Context) (deleted int, err error) {
	pages := ec2.NewDescribeLaunchTemplatesPaginator(p.sdk.EC2, &ec2.DescribeLaunchTemplatesInput{
		Filters: []types.Filter{filter("tag:"+awsv1.TagEKSCluster, p.cfg.ClusterName), filter("tag-key", awsv1.TagEC2NodeClass)},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return deleted, fault(err, "describe launch templates")
		}
		for _, t := range page.LaunchTemplates {
			name := sdk.ToString(t.LaunchTemplateName)
			if !strings.HasPrefix(name, awsv1.LaunchTemplatePrefix) || !p.unused(name, sdk.ToTime(t.CreateTime)) {
				continue
			}
			_, err := p.sdk.EC2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: t.LaunchTemplateId})
			if err := gone(fault(err, "delete launch template %s", name)); err != nil {
				return deleted, err
			}
			p.forgetTemplate(name)
			deleted++
		}
	}
	return deleted, nil
}

// unused says whether a template is old, and was not used by this process in a
// while. What it was last used for is known until templateFor later.
func (p *Provider) unused(name string, made time.Time) bool {
	now := p.cfg.Clock()
	p.mu.Lock()
	defer p.mu.Unlock()
	used, known := p.templates[name]
	return now.Sub(made) > unusedFor && (!known || now.Sub(used) > unusedFor-templateFor)
}

// SweepProfiles deletes the instance profiles that were made for roles of this
// cluster and region which no class names any more, and says how many.
func (p *Provider) SweepProfiles(ctx context.Context, roles, names map[string]bool) (deleted int, err error) {
	now := p.cfg.Clock()
	pages := iam.NewListInstanceProfilesPaginator(p.sdk.IAM, &iam.ListInstanceProfilesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return deleted, fault(err, "list instance profiles")
		}
		for i := range page.InstanceProfiles {
			profile := &page.InstanceProfiles[i]
			if names[sdk.ToString(profile.InstanceProfileName)] || now.Sub(sdk.ToTime(profile.CreateDate)) < unusedFor {
				continue
			}
			done, err := p.sweepProfile(ctx, profile, roles)
			if err != nil {
				return deleted, err
			}
			if done {
				deleted++
			}
		}
	}
	return deleted, nil
}

// sweepProfile deletes a profile that is ours and whose role no class names.
func (p *Provider) sweepProfile(ctx context.Context, profile *iamtypes.InstanceProfile, roles map[string]bool) (deleted bool, err error) {
	name := sdk.ToString(profile.InstanceProfileName)
	if len(profile.Roles) == 0 {
		return p.deleteHalfDeleted(ctx, name)
	}
	// The name tells cluster, region and role: what has another is not ours.
	role := sdk.ToString(profile.Roles[0].RoleName)
	if len(profile.Roles) > 1 || roles[role] || name != p.profileName(role) {
		return false, nil
	}
	err = p.DeleteInstanceProfile(ctx, role)
	return err == nil, err
}

// deleteHalfDeleted deletes a profile of ours that has lost its role already: its
// deletion has failed between the two. Without the role its name says no more
// than whose it may be; the tags do. False for what is not ours.
func (p *Provider) deleteHalfDeleted(ctx context.Context, name string) (bool, error) {
	if !strings.HasPrefix(name, p.profilePrefix()) {
		return false, nil
	}
	profile, err := p.profile(ctx, name)
	if err != nil {
		return false, gone(err)
	}
	tags := map[string]string{}
	for _, t := range profile.Tags {
		tags[sdk.ToString(t.Key)] = sdk.ToString(t.Value)
	}
	if len(profile.Roles) > 0 || tags[awsv1.TagClusterPrefix+p.cfg.ClusterName] != awsv1.TagClusterOwned || tags[tagRegion] != p.region {
		return false, nil
	}
	_, err = p.sdk.IAM.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: sdk.String(name)})
	return err == nil, gone(fault(err, "delete instance profile %s", name))
}
