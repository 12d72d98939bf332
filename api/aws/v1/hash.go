package v1

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
)

// EC2NodeClassHashVersion goes into AnnotationEC2NodeClassHashVersion. It is our
// own, so that Karpenter's hashes and ours are never compared: a claim stamped
// with another version is stamped anew instead of being called drifted, in both
// directions of a migration. Bump it whenever the input of Hash changes.
const EC2NodeClassHashVersion = "spokeshave-v1"

// Hash digests the fields that make a node drift when they change. The
// selectors and ipPrefixCount stay out: what they resolve to is compared with
// the instance itself. amiFamily counts as resolved, so that spelling out what
// the alias says changes nothing. The order of disks and interfaces does not
// matter.
//
// The value is not the one Karpenter computes under its own version;
// reproducing that is work of its own.
func (c *EC2NodeClass) Hash() (string, error) {
	spec := c.Spec.DeepCopy()
	spec.SubnetSelectorTerms = nil
	spec.SecurityGroupSelectorTerms = nil
	spec.CapacityReservationSelectorTerms = nil
	spec.AMISelectorTerms = nil
	spec.IPPrefixCount = nil
	spec.AMIFamily = new(c.AMIFamily())
	slices.SortStableFunc(spec.BlockDeviceMappings, func(a, b BlockDeviceMapping) int {
		return cmp.Compare(deref(a.DeviceName), deref(b.DeviceName))
	})
	slices.SortStableFunc(spec.NetworkInterfaces, func(a, b NetworkInterface) int {
		return cmp.Or(cmp.Compare(a.NetworkCardIndex, b.NetworkCardIndex), cmp.Compare(a.DeviceIndex, b.DeviceIndex))
	})
	h := fnv.New64a()
	if err := json.NewEncoder(h).Encode(spec); err != nil {
		return "", fmt.Errorf("hash EC2NodeClass %s: %w", c.Name, err)
	}
	return fmt.Sprint(h.Sum64()), nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
