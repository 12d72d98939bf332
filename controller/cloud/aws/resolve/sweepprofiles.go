package resolve

import (
	"context"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
)

// unusedProfileFor is how old an instance profile that nothing uses is before it is
// deleted.
const unusedProfileFor = time.Hour

// Sweep deletes the instance profiles that were made for roles of this
// cluster and region which no class names any more, and says how many.
func (p *Profiles) Sweep(ctx context.Context, roles, names map[string]bool) (deleted int, err error) {
	now := p.Clock()
	pages := iam.NewListInstanceProfilesPaginator(p.IAM, &iam.ListInstanceProfilesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return deleted, client.Fault(err, "list instance profiles")
		}
		for i := range page.InstanceProfiles {
			profile := &page.InstanceProfiles[i]
			if names[sdk.ToString(profile.InstanceProfileName)] || now.Sub(sdk.ToTime(profile.CreateDate)) < unusedProfileFor {
				continue
			}
			done, err := p.sweepOne(ctx, profile, roles)
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

// sweepOne deletes a profile that is ours and whose role no class names.
func (p *Profiles) sweepOne(ctx context.Context, profile *types.InstanceProfile, roles map[string]bool) (deleted bool, err error) {
	name := sdk.ToString(profile.InstanceProfileName)
	if len(profile.Roles) == 0 {
		return p.deleteHalfDeleted(ctx, name)
	}
	// The name tells cluster, region and role: what has another is not ours.
	role := sdk.ToString(profile.Roles[0].RoleName)
	if len(profile.Roles) > 1 || roles[role] || name != p.name(role) {
		return false, nil
	}
	err = p.Delete(ctx, role)
	return err == nil, err
}

// deleteHalfDeleted deletes a profile of ours that has lost its role already: its
// deletion has failed between the two. Without the role its name says no more
// than whose it may be; the tags do. False for what is not ours.
func (p *Profiles) deleteHalfDeleted(ctx context.Context, name string) (bool, error) {
	if !strings.HasPrefix(name, p.prefix()) {
		return false, nil
	}
	profile, err := p.get(ctx, name)
	if err != nil {
		return false, client.Gone(err)
	}
	tags := map[string]string{}
	for _, t := range profile.Tags {
		tags[sdk.ToString(t.Key)] = sdk.ToString(t.Value)
	}
	if len(profile.Roles) > 0 || tags[awsv1.TagClusterPrefix+p.Cluster] != awsv1.TagClusterOwned || tags[tagRegion] != p.Region {
		return false, nil
	}
	_, err = p.IAM.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: sdk.String(name)})
	return err == nil, client.Gone(client.Fault(err, "delete instance profile %s", name))
}
