package sim

import (
	"net/netip"
	"strings"
	"time"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
)

// instance is a virtual machine. Its state is a function of time.
type instance struct {
	id, reservation string
	// partition is that of its placement group, from 1; 0 is none.
	partition   int
	spec        launchSpec
	addr        netip.Addr
	dns         string
	tags        tags
	token       string
	fleet       string
	spotRequest string

	launched  time.Time
	runningAt time.Time
	seenAt    time.Time // when Describe calls begin to show it
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

// end makes the instance shut down from a time on, unless it does so earlier.
func (s *Server) end(i *instance, at time.Time, why stateReason) {
	if !i.endAt.IsZero() && !at.Before(i.endAt) {
		return
	}
	i.endAt, i.goneAt, i.reason = at, at.Add(s.state.shutdownDelay), why
}

// settle does what time has brought about: terminated instances give back
// their capacity, and are forgotten in the end.
func (s *Server) settle(now time.Time) {
	kept := s.state.order[:0]
	for _, i := range s.state.order {
		if i.state(now) == terminated() && !i.released {
			i.released = true
			s.release(i)
		}
		if i.state(now) == terminated() && !i.visible(now) && !now.Before(i.seenAt) {
			delete(s.state.instances, i.id)
			continue
		}
		kept = append(kept, i)
	}
	clear(s.state.order[len(kept):])
	s.state.order = kept
}

func (s *Server) release(i *instance) {
	i.spec.subnet.used--
	if left, bounded := s.state.pools[i.spec.option()]; bounded && i.drawn() == "" {
		s.state.pools[i.spec.option()] = left + 1
	}
}

// instance finds a visible instance by ID.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
func (s *Server) instance(c *call, id string) (*instance, error) {
	if !wellFormedID("i", id) {
		return nil, failf("InvalidInstanceID.Malformed", "Invalid id: \"%s\"", id)
	}
	i := s.state.instances[id]
	if i == nil || !i.visible(c.now) {
		return nil, failf("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", id)
	}
	return i, nil
}

// findInstances finds instances by ID, reporting all that are missing at once.
func (s *Server) findInstances(c *call, ids []string) ([]*instance, error) {
	var out []*instance
	var unknown []string
	seen := make(map[string]bool, len(ids))
	for _, id := range ids {
		i, err := s.instance(c, id)
		switch {
		case err == nil && !seen[id]:
			seen[id] = true
			out = append(out, i)
		case err != nil && failureOf(err).Code == "InvalidInstanceID.NotFound":
			unknown = append(unknown, id)
		case err != nil:
			return nil, err
		}
	}
	switch len(unknown) {
	case 0:
		return out, nil
	case 1:
		return nil, failf("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", unknown[0])
	default:
		return nil, failf("InvalidInstanceID.NotFound", "The instance IDs '%s' do not exist", strings.Join(unknown, ", "))
	}
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

// vcpusInUse counts against the quota of a purchasing option.
func (s *Server) vcpusInUse(now time.Time, bought model.CapacityType) int {
	n := 0
	for _, i := range s.state.order {
		if i.alive(now) && i.spec.capacityType() == bought {
			n += i.spec.kind.VCPU
		}
	}
	return n
}

func (i *instance) lifecycle() string { return string(i.spec.capacityType()) }

// kindOf finds a type; nil when there is none of the name.
func (st *state) kindOf(name string) *catalog.Type { return st.types[name] }
