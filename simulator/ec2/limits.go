package ec2

import (
	"fmt"
	"strconv"
	"time"

	"spokeshave.dev/controller/core/model"
)

// Limits are limits of production accounts that do not bite unless they are
// asked for. The zero value has none of them.
type Limits struct {
	// SubnetPrefix is the length of the subnets' prefixes, 19 (8,187 free
	// addresses) to 28 (11); 0 is 19.
	// https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html
	SubnetPrefix int
	// SubnetsPerZone is how many subnets each zone has, 1 unless set, 16 at most.
	SubnetsPerZone int
	// LaunchTemplates and TemplateVersions are quotas, of templates in the region
	// and of versions that a template has; AWS's are 5,000 and 10,000. 0 is none.
	// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/launch-template-restrictions.html
	LaunchTemplates, TemplateVersions int
	// TagLag is how long Describe calls show a new instance without its tags.
	// https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html
	TagLag time.Duration
	// SpotPeriod is how often spot capacity moves: each period the seed decides
	// anew how deep every pool is, and one pool in ten gives nothing. 0 is never,
	// and every pool gives.
	// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/how-spot-instances-work.html
	SpotPeriod time.Duration
}

// Validate says what is out of range.
func (l Limits) Validate() error {
	switch {
	case l.SubnetsPerZone < 0 || l.SubnetsPerZone > 16:
		return fmt.Errorf("%d subnets per zone: want 1 to 16", l.SubnetsPerZone)
	case l.SubnetPrefix != 0 && (l.SubnetPrefix < 19 || l.SubnetPrefix > 28):
		return fmt.Errorf("subnet prefix %d: want 19 to 28", l.SubnetPrefix)
	case l.LaunchTemplates < 0 || l.TemplateVersions < 0 || l.TagLag < 0 || l.SpotPeriod < 0:
		return fmt.Errorf("a limit is negative: %+v", l)
	default:
		return nil
	}
}

// depth ranks spot pools by spare capacity, 0 the deepest: seven of ten pools
// are deep, two middling, one shallow. A bounded pool that is empty is last.
func (s *launcher) depth(pool model.Option, now time.Time) int {
	if pool.CapacityType != model.Spot {
		return 0
	}
	if s.market.Empty(pool) {
		return 3
	}
	words := []string{"depth", pool.InstanceType, pool.Zone}
	if s.limits.SpotPeriod > 0 {
		words = append(words, strconv.FormatInt(now.UnixNano()/int64(s.limits.SpotPeriod), 10))
	}
	switch n := s.ids.Hash(words...) % 10; {
	case n < 7:
		return 0
	case n < 9:
		return 1
	default:
		return 2
	}
}

// dry says that a spot pool gives nothing in this period.
func (s *launcher) dry(pool model.Option, now time.Time) bool {
	return s.limits.SpotPeriod > 0 && s.depth(pool, now) >= 2
}
