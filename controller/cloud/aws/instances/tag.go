package instances

import (
	"context"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
)

// Tag sets tags on an instance, replacing equal keys.
func (s *Instances) Tag(ctx context.Context, providerID string, tags map[string]string) error {
	id, err := InstanceID(providerID)
	if err != nil {
		return err
	}
	_, err = s.cfg.EC2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{id}, Tags: client.Tags(tags)})
	if err != nil {
		return s.notSeenYet(id, client.Fault(err, "tag instance %s", id))
	}
	return nil
}

// ClaimTags are the tags of one claim's instance, beyond those that the instances of a
// request share.
func ClaimTags(shared map[string]string, claim string) map[string]string {
	out := map[string]string{awsv1.TagNodeClaim: claim}
	if _, own := shared[awsv1.TagName]; !own {
		out[awsv1.TagName] = shared[awsv1.TagNodePool] + "/" + claim
	}
	return out
}

// TagClaim writes the tags of a claim that its instance lacks.
func (s *Instances) TagClaim(ctx context.Context, providerID, claim string) error {
	i, err := s.Get(ctx, providerID)
	if err != nil {
		return fmt.Errorf("tag %s for %s: %w", providerID, claim, err)
	}
	missing := ClaimTags(i.Tags, claim)
	maps.DeleteFunc(missing, func(key, value string) bool { return i.Tags[key] == value })
	if len(missing) == 0 {
		return nil
	}
	return s.Tag(ctx, providerID, missing)
}
