package resolve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"golang.org/x/sync/singleflight"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
)

// profileFor is how long an instance profile found in order is not looked at again.
const profileFor = 15 * time.Minute

// Profiles makes, finds and deletes the instance profiles of node roles.
type Profiles struct {
	IAM             client.IAM
	Cluster, Region string
	Clock           func() time.Time

	mu sync.Mutex
	// found are the profiles found in order, until when they are not looked at again.
	found map[string]time.Time
	// making keeps callers from making the same profile at once.
	making singleflight.Group
}

// For is the class's instance profile: the one it names, or the one
// for its role, which is made when it is missing. Classes with the same role
// share a profile.
func (p *Profiles) For(ctx context.Context, class *awsv1.EC2NodeClass) (string, error) {
	if class.Spec.InstanceProfile != nil {
		return *class.Spec.InstanceProfile, nil
	}
	if class.Spec.Role == "" {
		return "", client.Refuse(provider.Invalid, "spec: neither role nor instanceProfile is set; set one of them")
	}
	name := p.name(RoleName(class.Spec.Role))
	now := p.Clock()
	p.mu.Lock()
	until := p.found[name]
	p.mu.Unlock()
	if now.Before(until) {
		return name, nil
	}
	// Classes that are resolved at the same time must not both add the role.
	_, err, _ := p.making.Do(name, func() (any, error) {
		return nil, p.ensure(ctx, name, class)
	})
	if err != nil {
		return "", err //nolint:wrapcheck // ensure says what could not be done
	}
	p.mu.Lock()
	if p.found == nil {
		p.found = map[string]time.Time{}
	}
	p.found[name] = now.Add(profileFor)
	p.mu.Unlock()
	return name, nil
}

// RoleName is the name of a role that is written with its path: IAM knows roles by their
// names alone, which are unique in the account whatever their paths.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
func RoleName(role string) string { return role[strings.LastIndexByte(role, '/')+1:] }

// name depends on cluster, region and role alone: instance profiles are
// global, and several clusters may use one role.
func (p *Profiles) name(role string) string {
	sum := sha256.Sum256([]byte(p.Region + "\x00" + role))
	return p.prefix() + hex.EncodeToString(sum[:10])
}

func (p *Profiles) prefix() string { return p.Cluster + "_" }

// tagRegion is the tag of a profile with the region of the cluster it is for.
const tagRegion = "topology.kubernetes.io/region"

// ensure makes a class's profile, unless it exists, and gives it the class's role. The IAM
// policy that Karpenter documents asks for the tag of a class; of several that share the
// profile it names the one that came first.
func (p *Profiles) ensure(ctx context.Context, name string, class *awsv1.EC2NodeClass) error {
	role := RoleName(class.Spec.Role)
	profile, err := p.get(ctx, name)
	if err != nil && provider.KindOf(err) != provider.NotFound {
		return err
	}
	if err != nil {
		_, err := p.IAM.CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{
			InstanceProfileName: sdk.String(name),
			Tags: []types.Tag{
				{Key: sdk.String(awsv1.TagClusterPrefix + p.Cluster), Value: sdk.String(awsv1.TagClusterOwned)},
				{Key: sdk.String(awsv1.TagEKSCluster), Value: sdk.String(p.Cluster)},
				{Key: sdk.String(awsv1.TagEC2NodeClass), Value: sdk.String(class.Name)},
				{Key: sdk.String(tagRegion), Value: sdk.String(p.Region)},
			},
		})
		if _, code := client.Classify(err); err != nil && code != "EntityAlreadyExists" {
			return client.Fault(err, "create instance profile %s for role %s", name, role)
		}
		profile = &types.InstanceProfile{}
	}
	for i := range profile.Roles {
		has := sdk.ToString(profile.Roles[i].RoleName)
		if has == role {
			return nil
		}
		// A profile holds one role.
		_, err := p.IAM.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{
			InstanceProfileName: sdk.String(name), RoleName: sdk.String(has),
		})
		if err != nil {
			return client.Fault(err, "remove role %s from instance profile %s", has, name)
		}
	}
	_, err = p.IAM.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{
		InstanceProfileName: sdk.String(name), RoleName: sdk.String(role),
	})
	if err != nil {
		return client.Fault(err, "add role %s to instance profile %s (does the role exist?)", role, name)
	}
	return nil
}

// Delete removes the profile made for a role. A profile that is
// gone already is no error.
func (p *Profiles) Delete(ctx context.Context, role string) error {
	name := p.name(RoleName(role))
	p.mu.Lock()
	delete(p.found, name)
	p.mu.Unlock()
	return p.delete(ctx, name)
}

// delete takes the role from a profile and deletes it.
func (p *Profiles) delete(ctx context.Context, name string) error {
	profile, err := p.get(ctx, name)
	if err != nil {
		return client.Gone(err)
	}
	for i := range profile.Roles {
		has := profile.Roles[i].RoleName
		_, err := p.IAM.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{
			InstanceProfileName: sdk.String(name), RoleName: has,
		})
		if client.Gone(client.Fault(err, "")) != nil {
			return client.Fault(err, "remove role %s from instance profile %s", sdk.ToString(has), name)
		}
	}
	_, err = p.IAM.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: sdk.String(name)})
	return client.Gone(client.Fault(err, "delete instance profile %s", name))
}

func (p *Profiles) get(ctx context.Context, name string) (*types.InstanceProfile, error) {
	out, err := p.IAM.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: sdk.String(name)})
	if err != nil {
		return nil, client.Fault(err, "get instance profile %s", name)
	}
	if out.InstanceProfile == nil {
		return &types.InstanceProfile{}, nil
	}
	return out.InstanceProfile, nil
}
