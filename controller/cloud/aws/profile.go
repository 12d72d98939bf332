package aws

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/provider"
)

// profileFor is how long an instance profile found in order is not looked at again.
const profileFor = 15 * time.Minute

// InstanceProfile is the class's instance profile: the one it names, or the one
// for its role, which is made when it is missing. Classes with the same role
// share a profile.
func (p *Provider) InstanceProfile(ctx context.Context, class *awsv1.EC2NodeClass) (string, error) {
	if class.Spec.InstanceProfile != nil {
		return *class.Spec.InstanceProfile, nil
	}
	if class.Spec.Role == "" {
		return "", refuse(provider.Invalid, "spec: neither role nor instanceProfile is set; set one of them")
	}
	name := p.profileName(class.Spec.Role)
	now := p.cfg.Clock()
	p.mu.Lock()
	until := p.profiles[name]
	p.mu.Unlock()
	if now.Before(until) {
		return name, nil
	}
	if err := p.ensureProfile(ctx, name, class.Spec.Role); err != nil {
		return "", err
	}
	p.mu.Lock()
	p.profiles[name] = now.Add(profileFor)
	p.mu.Unlock()
	return name, nil
}

// profileName depends on cluster, region and role alone: instance profiles are
// global, and several clusters may use one role.
func (p *Provider) profileName(role string) string {
	sum := sha256.Sum256([]byte(p.region + "\x00" + role))
	return p.profilePrefix() + hex.EncodeToString(sum[:10])
}

func (p *Provider) profilePrefix() string { return p.cfg.ClusterName + "_" }

// tagRegion is the tag of a profile with the region of the cluster it is for.
const tagRegion = "topology.kubernetes.io/region"

func (p *Provider) ensureProfile(ctx context.Context, name, role string) error {
	profile, err := p.profile(ctx, name)
	if err != nil && provider.KindOf(err) != provider.NotFound {
		return err
	}
	if err != nil {
		_, err := p.sdk.IAM.CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{
			InstanceProfileName: sdk.String(name),
			Tags: []types.Tag{
				{Key: sdk.String(awsv1.TagClusterPrefix + p.cfg.ClusterName), Value: sdk.String(awsv1.TagClusterOwned)},
				{Key: sdk.String(awsv1.TagEKSCluster), Value: sdk.String(p.cfg.ClusterName)},
				{Key: sdk.String(tagRegion), Value: sdk.String(p.region)},
			},
		})
		if _, code := classify(err); err != nil && code != "EntityAlreadyExists" {
			return fault(err, "create instance profile %s for role %s", name, role)
		}
		profile = &types.InstanceProfile{}
	}
	for i := range profile.Roles {
		has := sdk.ToString(profile.Roles[i].RoleName)
		if has == role {
			return nil
		}
		// A profile holds one role.
		_, err := p.sdk.IAM.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{
			InstanceProfileName: sdk.String(name), RoleName: sdk.String(has),
		})
		if err != nil {
			return fault(err, "remove role %s from instance profile %s", has, name)
		}
	}
	_, err = p.sdk.IAM.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{
		InstanceProfileName: sdk.String(name), RoleName: sdk.String(role),
	})
	if err != nil {
		return fault(err, "add role %s to instance profile %s (does the role exist?)", role, name)
	}
	return nil
}

// DeleteInstanceProfile removes the profile made for a role. A profile that is
// gone already is no error.
func (p *Provider) DeleteInstanceProfile(ctx context.Context, role string) error {
	name := p.profileName(role)
	p.mu.Lock()
	delete(p.profiles, name)
	p.mu.Unlock()
	profile, err := p.profile(ctx, name)
	if err != nil {
		return gone(err)
	}
	for i := range profile.Roles {
		has := profile.Roles[i].RoleName
		_, err := p.sdk.IAM.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{
			InstanceProfileName: sdk.String(name), RoleName: has,
		})
		if gone(fault(err, "")) != nil {
			return fault(err, "remove role %s from instance profile %s", sdk.ToString(has), name)
		}
	}
	_, err = p.sdk.IAM.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: sdk.String(name)})
	return gone(fault(err, "delete instance profile %s", name))
}

func (p *Provider) profile(ctx context.Context, name string) (*types.InstanceProfile, error) {
	out, err := p.sdk.IAM.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: sdk.String(name)})
	if err != nil {
		return nil, fault(err, "get instance profile %s", name)
	}
	if out.InstanceProfile == nil {
		return &types.InstanceProfile{}, nil
	}
	return out.InstanceProfile, nil
}

// gone takes NotFound for success.
func gone(err error) error {
	if err != nil && provider.KindOf(err) == provider.NotFound {
		return nil
	}
	return err
}
