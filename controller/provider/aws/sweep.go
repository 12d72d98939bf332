package aws

import (
	"context"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

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
			name := sdk.ToString(profile.InstanceProfileName)
			if names[name] || len(profile.Roles) != 1 || now.Sub(sdk.ToTime(profile.CreateDate)) < unusedFor {
				continue
			}
			// The name tells cluster, region and role: what has another is not ours.
			role := sdk.ToString(profile.Roles[0].RoleName)
			if roles[role] || name != p.profileName(role) {
				continue
			}
			if err := p.DeleteInstanceProfile(ctx, role); err != nil {
				return deleted, err
			}
			deleted++
		}
	}
	return deleted, nil
}
