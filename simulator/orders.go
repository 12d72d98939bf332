package simulator

import (
	"spokeshave.dev/simulator/ec2"
	"spokeshave.dev/simulator/fault"
	"spokeshave.dev/simulator/market"
	"spokeshave.dev/simulator/pricing"
	"spokeshave.dev/simulator/zonalshift"
)

// What can be ordered, under one import.
type (
	// Fault is something to go wrong.
	Fault = fault.Fault
	// Offering names the capacity pools that a fault strikes.
	Offering = fault.Offering
	// Duration is written as Go does ("1.5s") or as a number of milliseconds.
	Duration = fault.Duration
	// Price changes an offering's price.
	Price = market.Price
	// Capacity bounds a capacity pool.
	Capacity = market.Capacity
	// VolumePrice is what a volume type costs.
	VolumePrice = pricing.VolumePrice
	// Reservation is a capacity reservation.
	Reservation = ec2.Reservation
	// PlacementGroup is a placement group.
	PlacementGroup = ec2.PlacementGroup
	// Interruption ends an instance or announces its end.
	Interruption = ec2.Interruption
	// StatusCheck makes a status check fail or pass.
	StatusCheck = ec2.StatusCheck
	// InstanceState is an instance in State.
	InstanceState = ec2.InstanceState
	// ZonalShift moves the cluster away from a zone.
	ZonalShift = zonalshift.Shift
)

// Settings change the pace of the simulation; nil leaves as is.
type Settings struct {
	PendingDelay  *Duration `json:"pendingDelay,omitempty"`
	ShutdownDelay *Duration `json:"shutdownDelay,omitempty"`
	Lag           *Duration `json:"lag,omitempty"`
}

// Order orders a fault and tells it with its ID.
func (s *Server) Order(f Fault) (Fault, error) {
	if err := f.Validate(); err != nil {
		return f, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f.ID, f.Struck = s.ids.New("fault"), 0
	s.world.faults.Add(f)
	return f, nil
}

// ClearFaults takes all orders back.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.world.faults.Clear()
}

// SetPrices changes prices from now on; on-demand prices have no zone.
func (s *Server) SetPrices(prices []Price) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.world.market.SetPrices(prices, s.cfg.Clock.Now())
}

// SetVolumePrices replaces the prices of volume types.
func (s *Server) SetVolumePrices(all []VolumePrice) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.world.pricing.SetVolumePrices(all)
}

// SetCapacity bounds pools. Instances give their place back when they end.
func (s *Server) SetCapacity(pools []Capacity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.world.market.SetCapacity(pools)
}

// Reserve makes or changes capacity reservations, and tells them with their IDs.
func (s *Server) Reserve(all []Reservation) ([]Reservation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.world.ec2.Reserve(all)
}

// Place makes placement groups, and tells them with their IDs.
func (s *Server) Place(all []PlacementGroup) ([]PlacementGroup, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.world.ec2.Place(all)
}

// Shift replaces all zonal shifts by those given.
func (s *Server) Shift(all []ZonalShift) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.world.shifts.Set(all)
}

// SetStatus makes a status check fail or pass.
func (s *Server) SetStatus(in StatusCheck) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.world.ec2.SetStatus(in, s.cfg.Clock.Now())
}

// Interrupt puts the event on the queue as EventBridge does, and does to the
// instance what the event announces.
func (s *Server) Interrupt(in Interruption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, queue := s.cfg.Clock.Now(), in.Queue
	if queue == "" {
		queue = s.cfg.Queue
	}
	return s.world.ec2.Interrupt(in, now, func(body string) error { return s.world.sqs.Put(queue, body, now) })
}

// Set applies settings to instances launched or ended from now on and tells
// all of them.
func (s *Server) Set(in Settings) Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	pace := s.world.ec2.Pace()
	if in.PendingDelay != nil {
		pace.Pending = in.PendingDelay.Duration
	}
	if in.ShutdownDelay != nil {
		pace.Shutdown = in.ShutdownDelay.Duration
	}
	if in.Lag != nil {
		pace.Lag = in.Lag.Duration
	}
	return Settings{&Duration{Duration: pace.Pending}, &Duration{Duration: pace.Shutdown}, &Duration{Duration: pace.Lag}}
}

// Reset forgets everything that happened, and every change to prices,
// capacity and settings. Identifiers are not used twice, even so.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.world = newWorld(&s.cfg, s.ids, s.wake)
	s.journal = journal{}
}
