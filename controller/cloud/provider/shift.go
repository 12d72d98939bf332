package provider

import "time"

// Shift is a zone that Application Recovery Controller moves the cluster away
// from.
// https://docs.aws.amazon.com/eks/latest/userguide/zone-shift.html
type Shift struct {
	// ZoneID is the zone's id (usw2-az1), which is the same in every account.
	ZoneID string
	// Until is when the shift expires; zero for one that AWS began by itself
	// (an autoshift), which lasts until AWS ends it.
	Until time.Time
}
