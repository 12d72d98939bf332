package resolve

import (
	"context"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
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

// PlacementGroups finds the placement groups that EC2NodeClasses select, and keeps the
// answers for a while.
type PlacementGroups struct {
	EC2   client.Network
	Clock func() time.Time

	mu    sync.Mutex
	known map[string]placementGroup
}

// Check asks EC2 whether the group that a class names exists and takes instances. Nil
// names none.
func (g *PlacementGroups) Check(ctx context.Context, selector *awsv1.PlacementGroupSelector) error {
	if selector == nil {
		return nil
	}
	_, err := g.find(ctx, selector)
	return err
}

// ID is the group that the class's nodes are launched into, "" for none.
func (g *PlacementGroups) ID(ctx context.Context, class *awsv1.EC2NodeClass) (string, error) {
	selector := class.Spec.PlacementGroupSelector
	if selector == nil {
		return "", nil
	}
	key := groupKey(selector)
	now := g.Clock()
	g.mu.Lock()
	last := g.known[key]
	g.mu.Unlock()
	if now.Before(last.until) {
		return last.id, last.err
	}
	return g.find(ctx, selector)
}

func groupKey(selector *awsv1.PlacementGroupSelector) string {
	return sdk.ToString(selector.ID) + "/" + sdk.ToString(selector.Name)
}

// find asks EC2, and keeps the answer.
func (g *PlacementGroups) find(ctx context.Context, selector *awsv1.PlacementGroupSelector) (string, error) {
	key := groupKey(selector)
	id, err := g.describe(ctx, selector)
	if err != nil && !provider.KindOf(err).Definitive() {
		return "", err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known == nil {
		g.known = map[string]placementGroup{}
	}
	g.known[key] = placementGroup{id: id, err: err, until: g.Clock().Add(groupFor)}
	return id, err
}

func (g *PlacementGroups) describe(ctx context.Context, selector *awsv1.PlacementGroupSelector) (string, error) {
	in := &ec2.DescribePlacementGroupsInput{}
	name := sdk.ToString(selector.Name)
	if id := sdk.ToString(selector.ID); id != "" {
		in.GroupIds, name = []string{id}, id
	} else {
		in.GroupNames = []string{name}
	}
	out, err := g.EC2.DescribePlacementGroups(ctx, in)
	switch {
	case err != nil:
		return "", client.Fault(err, "describe placement group %s", name)
	case len(out.PlacementGroups) == 0:
		return "", client.Refuse(provider.NotFound, "placement group %s: no such group; correct spec.placementGroupSelector", name)
	case out.PlacementGroups[0].State != types.PlacementGroupStateAvailable:
		return "", client.Refuse(provider.NotFound, "placement group %s is %s", name, out.PlacementGroups[0].State)
	}
	return sdk.ToString(out.PlacementGroups[0].GroupId), nil
}
