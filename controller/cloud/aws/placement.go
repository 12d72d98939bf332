package aws

import (
	"context"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/provider"
)

// groupFor is how long a placement group is taken to be as it was found.
const groupFor = 5 * time.Minute

// placementGroup is a group that was found, or why it was not.
type placementGroup struct {
	id    string
	err   error
	until time.Time
}

// PlacementGroup checks that the group that a class names exists and takes
// instances. Nil names none.
func (p *Provider) PlacementGroup(ctx context.Context, selector *awsv1.PlacementGroupSelector) error {
	if selector == nil {
		return nil
	}
	_, err := p.findGroup(ctx, selector)
	return err
}

// placementGroupID is the group that the class's nodes are launched into, ""
// for none.
func (p *Provider) placementGroupID(ctx context.Context, class *awsv1.EC2NodeClass) (string, error) {
	selector := class.Spec.PlacementGroupSelector
	if selector == nil {
		return "", nil
	}
	key := groupKey(selector)
	now := p.cfg.Clock()
	p.mu.Lock()
	known := p.groups[key]
	p.mu.Unlock()
	if now.Before(known.until) {
		return known.id, known.err
	}
	return p.findGroup(ctx, selector)
}

func groupKey(selector *awsv1.PlacementGroupSelector) string {
	return sdk.ToString(selector.ID) + "/" + sdk.ToString(selector.Name)
}

// findGroup asks EC2, and keeps the answer.
func (p *Provider) findGroup(ctx context.Context, selector *awsv1.PlacementGroupSelector) (string, error) {
	key := groupKey(selector)
	id, err := p.describeGroup(ctx, selector)
	if err != nil && !provider.KindOf(err).Definitive() {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.groups == nil {
		p.groups = map[string]placementGroup{}
	}
	p.groups[key] = placementGroup{id: id, err: err, until: p.cfg.Clock().Add(groupFor)}
	return id, err
}

func (p *Provider) describeGroup(ctx context.Context, selector *awsv1.PlacementGroupSelector) (string, error) {
	in := &ec2.DescribePlacementGroupsInput{}
	name := sdk.ToString(selector.Name)
	if id := sdk.ToString(selector.ID); id != "" {
		in.GroupIds, name = []string{id}, id
	} else {
		in.GroupNames = []string{name}
	}
	out, err := p.sdk.EC2.DescribePlacementGroups(ctx, in)
	switch {
	case err != nil:
		return "", fault(err, "describe placement group %s", name)
	case len(out.PlacementGroups) == 0:
		return "", refuse(provider.NotFound, "placement group %s: no such group; correct spec.placementGroupSelector", name)
	case out.PlacementGroups[0].State != types.PlacementGroupStateAvailable:
		return "", refuse(provider.NotFound, "placement group %s is %s", name, out.PlacementGroups[0].State)
	}
	return sdk.ToString(out.PlacementGroups[0].GroupId), nil
}
