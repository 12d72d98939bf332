package resolve

import (
	"context"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	k8stypes "k8s.io/apimachinery/pkg/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
)

// unusedProfileFor is how old an instance profile that nothing uses is before it is
// deleted.
const unusedProfileFor = time.Hour

// ProfileUse is what keeps instance profiles.
type ProfileUse struct {
	// Roles are those that EC2NodeClasses name, Names the profiles that EC2NodeClasses and
	// NodeClaims do.
	Roles, Names map[string]bool
	// Classes are the EC2NodeClasses there are.
	Classes map[k8stypes.UID]bool
}

// Sweep deletes the instance profiles that were made in this cluster and region for roles
// that no class names any more, or by Karpenter for classes that are gone. It says how many.
func (p *Profiles) Sweep(ctx context.Context, use ProfileUse) (deleted int, err error) {
	now := p.Clock()
	pages := iam.NewListInstanceProfilesPaginator(p.IAM, &iam.ListInstanceProfilesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return deleted, client.Fault(err, "list instance profiles")
		}
		for i := range page.InstanceProfiles {
			profile := &page.InstanceProfiles[i]
			if use.Names[sdk.ToString(profile.InstanceProfileName)] || now.Sub(sdk.ToTime(profile.CreateDate)) < unusedProfileFor {
				continue
			}
			done, err := p.sweepOne(ctx, profile, use)
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

// sweepOne deletes a profile of this cluster that nothing keeps.
func (p *Profiles) sweepOne(ctx context.Context, profile *types.InstanceProfile, use ProfileUse) (deleted bool, err error) {
	name := sdk.ToString(profile.InstanceProfileName)
	if class, ok := p.classInPath(sdk.ToString(profile.Path)); ok {
		if use.Classes[class] {
			return false, nil
		}
		err := p.delete(ctx, name)
		return err == nil, err
	}
	if len(profile.Roles) == 0 {
		return p.deleteHalfDeleted(ctx, name)
	}
	// The name tells cluster, region and role: what has another is not ours.
	role := sdk.ToString(profile.Roles[0].RoleName)
	if len(profile.Roles) > 1 || use.Roles[role] || name != p.name(role) {
		return false, nil
	}
	err = p.Delete(ctx, role)
	return err == nil, err
}

// classInPath reads the UID of the EC2NodeClass from the path that Karpenter gives its
// profiles: /karpenter/REGION/CLUSTER/UID/. False for other paths.
func (p *Profiles) classInPath(path string) (k8stypes.UID, bool) {
	uid, ok := strings.CutPrefix(path, "/karpenter/"+p.Region+"/"+p.Cluster+"/")
	uid, ended := strings.CutSuffix(uid, "/")
	return k8stypes.UID(uid), ok && ended && uid != "" && !strings.Contains(uid, "/")
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
