package fleet

import (
	"context"
	"maps"
	"slices"
	"time"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/aws/instances"
	"spokeshave.dev/controller/cloud/provider"
)

// tagFor bounds the time that tagging a sharedLaunch takes: a thousand instances
// need minutes at the rate that EC2 allows. An instance that EC2 does not show yet
// is tried again after tagPause.
const (
	tagFor   = 10 * time.Minute
	tagTries = 5
	tagPause = time.Second
)

// tagInstances tags instances with their claims. Nothing depends on it but people,
// and garbage collection after a crash; TagClaim makes up for what it misses.
func (l *Launcher) tagInstances(ctx context.Context, assigned map[string]provider.Instance) {
	ctx, cancel := context.WithTimeout(ctx, tagFor)
	defer cancel()
	left := slices.Sorted(maps.Keys(assigned))
	for range tagTries {
		left = slices.DeleteFunc(left, func(claim string) bool {
			i := assigned[claim]
			shared := maps.Clone(i.Tags)
			if shared[awsv1.TagName] == shared[awsv1.TagNodePool]+"/"+claim {
				delete(shared, awsv1.TagName)
			}
			err := l.cfg.Instances.Tag(ctx, i.ProviderID, instances.ClaimTags(shared, claim))
			return err == nil || provider.KindOf(err).Definitive()
		})
		if len(left) == 0 {
			return
		}
		client.Pause(ctx, tagPause)
	}
}
