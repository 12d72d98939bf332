package ec2

import (
	"net/netip"
	"strings"
	"time"

	"spokeshave.dev/simulator/tag"
)

// instance is a virtual machine. Its state is a function of time.
//
// Size: one field for each fact about an instance.
type instance struct {
	id, reservation string
	// partition is that of its placement group, from 1; 0 is none.
	partition   int
	spec        launchSpec
	addr        netip.Addr
	dns         string
	tags        tag.Set
	token       string
	fleet       string
	spotRequest string

	launched  time.Time
	runningAt time.Time
	seenAt    time.Time // when Describe calls begin to show it
	taggedAt  time.Time // when they begin to show its tags
	// endAt is when it begins to shut down, goneAt when it is terminated; zero
	// as long as nobody asked.
	endAt, goneAt time.Time
	reason        stateReason
	// impaired is since when a status check fails, by the check's name.
	impaired map[string]time.Time
	// retiresAt is when AWS has planned its end; zero when it has not.
	retiresAt time.Time
	// released says that its address and quota are given back.
	released bool
}

// stateReason is why an instance shuts down.
type stateReason struct {
	Code    string `xml:"code"`
	Message string `xml:"message"`
}

// instanceState is a state of an instance with EC2's number for it.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceState.html
type instanceState struct {
	Code int    `xml:"code"`
	Name string `xml:"name"`
}

func pending() instanceState      { return instanceState{0, "pending"} }
func running() instanceState      { return instanceState{16, "running"} }
func shuttingDown() instanceState { return instanceState{32, "shutting-down"} }
func terminated() instanceState   { return instanceState{48, "terminated"} }

// keepTerminated is how long a terminated instance can still be described.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/terminating-instances.html
const keepTerminated = time.Hour

// state is the instance's state at a time.
func (i *instance) state(now time.Time) instanceState {
	switch {
	case !i.goneAt.IsZero() && !now.Before(i.goneAt):
		return terminated()
	case !i.endAt.IsZero() && !now.Before(i.endAt):
		return shuttingDown()
	case now.Before(i.runningAt):
		return pending()
	default:
		return running()
	}
}

// alive says that the instance costs money: it is pending or running.
func (i *instance) alive(now time.Time) bool { return i.state(now).Code <= running().Code }

// visible says that Describe calls show the instance.
func (i *instance) visible(now time.Time) bool {
	return !now.Before(i.seenAt) && (i.goneAt.IsZero() || now.Before(i.goneAt.Add(keepTerminated)))
}

// tagsSeen are the tags that Describe calls show.
func (i *instance) tagsSeen(now time.Time) tag.Set {
	if now.Before(i.taggedAt) {
		return nil
	}
	return i.tags
}

// privateDNS is the name of an address in the VPC's resolver.
// https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html
func privateDNS(region string, addr netip.Addr) string {
	host := "ip-" + strings.ReplaceAll(addr.String(), ".", "-")
	if region == "us-east-1" {
		return host + ".ec2.internal"
	}
	return host + "." + region + ".compute.internal"
}

// lifecycle is how the instance was bought, in the words of fleets.
func (i *instance) lifecycle() string { return string(i.spec.capacityType()) }
