package ec2

import (
	"strings"
	"time"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/ids"
	"spokeshave.dev/simulator/listing"
	"spokeshave.dev/simulator/market"
	"spokeshave.dev/simulator/operation"
)

// Pace is how fast things happen to instances.
type Pace struct {
	// Pending is from launch to running, Shutdown from the call to terminated.
	Pending, Shutdown time.Duration
	// Lag is how long a new instance is missing from Describe calls.
	// https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html
	Lag time.Duration
}

// instances are those that exist, terminated ones for an hour included.
type instances struct {
	market *market.Market
	pace   Pace
	byID   map[string]*instance
	order  []*instance // by launch
}

func (s *instances) add(i *instance) {
	s.byID[i.id] = i
	s.order = append(s.order, i)
}

// undo takes back an instance that the same call started.
func (s *instances) undo(i *instance) {
	s.release(i)
	delete(s.byID, i.id)
	s.order = s.order[:len(s.order)-1]
}

// end makes the instance shut down from a time on, unless it does so earlier.
func (s *instances) end(i *instance, at time.Time, why stateReason) {
	if !i.endAt.IsZero() && !at.Before(i.endAt) {
		return
	}
	i.endAt, i.goneAt, i.reason = at, at.Add(s.pace.Shutdown), why
}

// settle does what time has brought about: terminated instances give back
// their capacity, and are forgotten in the end.
func (s *instances) settle(now time.Time) {
	kept := s.order[:0]
	for _, i := range s.order {
		if i.state(now) == terminated() && !i.released {
			i.released = true
			s.release(i)
		}
		if i.state(now) == terminated() && !i.visible(now) && !now.Before(i.seenAt) {
			delete(s.byID, i.id)
			continue
		}
		kept = append(kept, i)
	}
	clear(s.order[len(kept):])
	s.order = kept
}

// release gives back the instance's address and its place in the pool.
func (s *instances) release(i *instance) {
	i.spec.subnet.giveBack(i.addr)
	if i.drawn() == "" {
		s.market.Return(i.spec.option())
	}
}

// find finds a visible instance by ID.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
func (s *instances) find(c *operation.Call, id string) (*instance, error) {
	if !ids.WellFormed("i", id) {
		return nil, awserr.New("InvalidInstanceID.Malformed", "Invalid id: \"%s\"", id)
	}
	i := s.byID[id]
	if i == nil || !i.visible(c.Now) {
		return nil, awserr.New("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", id)
	}
	return i, nil
}

// findAll finds instances by ID, reporting all that are missing at once.
func (s *instances) findAll(c *operation.Call, named []string) ([]*instance, error) {
	var out []*instance
	var unknown []string
	seen := make(map[string]bool, len(named))
	for _, id := range named {
		i, err := s.find(c, id)
		switch {
		case err == nil && !seen[id]:
			seen[id] = true
			out = append(out, i)
		case err != nil && awserr.Of(err).Code == "InvalidInstanceID.NotFound":
			unknown = append(unknown, id)
		case err != nil:
			return nil, err
		}
	}
	switch len(unknown) {
	case 0:
		return out, nil
	case 1:
		return nil, awserr.New("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", unknown[0])
	default:
		return nil, awserr.New("InvalidInstanceID.NotFound", "The instance IDs '%s' do not exist", strings.Join(unknown, ", "))
	}
}

// vcpusInUse counts against the quota of a purchasing option.
func (s *instances) vcpusInUse(now time.Time, bought model.CapacityType) int {
	n := 0
	for _, i := range s.order {
		if i.alive(now) && i.spec.capacityType() == bought {
			n += i.spec.kind.VCPU
		}
	}
	return n
}

// asked are the instances named, or all; naming some and asking for
// pages exclude each other.
func (s *instances) asked(c *operation.Call, named []string, p listing.Paging) ([]*instance, error) {
	if len(named) > 0 {
		if p.MaxResults != nil {
			return nil, awserr.New(awserr.InvalidCombination, "The parameter instancesSet cannot be used with the parameter maxResults")
		}
		return s.findAll(c, named)
	}
	var out []*instance
	for _, i := range s.order {
		if i.visible(c.Now) {
			out = append(out, i)
		}
	}
	return out, nil
}
