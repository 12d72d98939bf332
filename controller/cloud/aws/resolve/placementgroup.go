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

// PlacementGroup is a group as EC2 describes it; the zero value is none.
type PlacementGroup struct {
	ID string
	// Strategy is cluster, partition or spread; Partitions is the number of partitions, 0
	// where it has none.
	Strategy   string
	Partitions int32
}

// placementGroup is a group that was found, or why it was not.
type placementGroup struct {
	PlacementGroup
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
	found, err := g.Of(ctx, class)
	return found.ID, err
}

// Of is the group that the class's nodes are launched into, zero for none.
func (g *PlacementGroups) Of(ctx context.Context, class *awsv1.EC2NodeClass) (PlacementGroup, error) {
	selector := class.Spec.PlacementGroupSelector
	if selector == nil {
		return PlacementGroup{}, nil
	}
	key := groupKey(selector)
	now := g.Clock()
	g.mu.Lock()
	last := g.known[key]
	g.mu.Unlock()
	if now.Before(last.until) {
		return last.PlacementGroup, last.err
	}
	return g.find(ctx, selector)
}

// Known is the group that the class names, as EC2 described it last; zero for none and while
// it has not been asked. It asks nothing.
func (g *PlacementGroups) Known(class *awsv1.EC2NodeClass) PlacementGroup {
	if class.Spec.PlacementGroupSelector == nil {
		return PlacementGroup{}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known[groupKey(class.Spec.PlacementGroupSelector)].PlacementGroup
}

func groupKey(selector *awsv1.PlacementGroupSelector) string {
	return sdk.ToString(selector.ID) + "/" + sdk.ToString(selector.Name)
}

// find asks EC2, and keeps the answer.
func (g *PlacementGroups) find(ctx context.Context, selector *awsv1.PlacementGroupSelector) (PlacementGroup, error) {
	key := groupKey(selector)
	found, err := g.describe(ctx, selector)
	if err != nil && !provider.KindOf(err).Definitive() {
		return PlacementGroup{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known == nil {
		g.known = map[string]placementGroup{}
	}
	g.known[key] = placementGroup{PlacementGroup: found, err: err, until: g.Clock().Add(groupFor)}
	return found, err
}

func (g *PlacementGroups) describe(ctx context.Context, selector *awsv1.PlacementGroupSelector) (PlacementGroup, error) {
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
		return PlacementGroup{}, client.Fault(err, "describe placement group %s", name)
	case len(out.PlacementGroups) == 0:
		return PlacementGroup{}, client.Refuse(provider.NotFound, "placement group %s: no such group; correct spec.placementGroupSelector", name)
	case out.PlacementGroups[0].State != types.PlacementGroupStateAvailable:
		return PlacementGroup{}, client.Refuse(provider.NotFound, "placement group %s is %s", name, out.PlacementGroups[0].State)
	}
	found := &out.PlacementGroups[0]
	return PlacementGroup{ID: sdk.ToString(found.GroupId), Strategy: string(found.Strategy), Partitions: sdk.ToInt32(found.PartitionCount)}, nil
}
