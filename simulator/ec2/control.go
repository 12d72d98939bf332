package sim

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"spokeshave.dev/controller/core/model"
)

// State is the answer of GET /_sim/state.
type State struct {
	Time      time.Time       `json:"time"`
	Region    string          `json:"region"`
	Instances []InstanceState `json:"instances"`
	// Running counts pending and running instances; HourlyUSD is their price.
	Running   int     `json:"running"`
	HourlyUSD float64 `json:"hourlyUSD"`
	// Requests counts by action, then by error code ("" is success).
	Requests  map[string]map[string]int `json:"requests"`
	Faults    []Fault                   `json:"faults"`
	Templates []string                  `json:"launchTemplates"`
	Profiles  []string                  `json:"instanceProfiles"`
	Messages  map[string]int            `json:"messages"`
}

// InstanceState is an instance in State.
type InstanceState struct {
	ID           string             `json:"id"`
	State        string             `json:"state"`
	Type         string             `json:"type"`
	Zone         string             `json:"zone"`
	CapacityType model.CapacityType `json:"capacityType"`
	HourlyUSD    float64            `json:"hourlyUSD"`
	PrivateDNS   string             `json:"privateDNS"`
	Launched     time.Time          `json:"launched"`
	// Reservation is the capacity reservation that it was launched into.
	Reservation string            `json:"capacityReservation,omitempty"`
	Reason      string            `json:"reason,omitempty"`
	UserData    string            `json:"userData,omitempty"`
	Tags        map[string]string `json:"tags"`
}

func (s *Server) controlMux() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_sim/state", func(w http.ResponseWriter, _ *http.Request) { reply(w, s.State()) })
	mux.HandleFunc("GET /_sim/requests", func(w http.ResponseWriter, _ *http.Request) { reply(w, s.Requests()) })
	mux.HandleFunc("GET /_sim/faults", func(w http.ResponseWriter, _ *http.Request) { reply(w, s.State().Faults) })
	mux.HandleFunc("POST /_sim/faults", ordered(func(f Fault) (any, error) { return s.Order(f) }))
	mux.HandleFunc("DELETE /_sim/faults", func(w http.ResponseWriter, _ *http.Request) {
		s.ClearFaults()
		reply(w, []Fault{})
	})
	mux.HandleFunc("POST /_sim/interrupt", ordered(func(in Interruption) (any, error) { return in, s.Interrupt(in) }))
	mux.HandleFunc("POST /_sim/status", ordered(func(in StatusCheck) (any, error) { return in, s.SetStatus(in) }))
	mux.HandleFunc("POST /_sim/prices", ordered(func(in []Price) (any, error) { return in, s.SetPrices(in) }))
	mux.HandleFunc("POST /_sim/capacity", ordered(func(in []Capacity) (any, error) { return in, s.SetCapacity(in) }))
	mux.HandleFunc("POST /_sim/reservations", ordered(func(in []Reservation) (any, error) { return s.Reserve(in) }))
	mux.HandleFunc("POST /_sim/placementgroups", ordered(func(in []PlacementGroup) (any, error) { return s.Place(in) }))
	mux.HandleFunc("POST /_sim/volumeprices", ordered(func(in []VolumePrice) (any, error) { return in, s.SetVolumePrices(in) }))
	mux.HandleFunc("POST /_sim/zonalshifts", ordered(func(in []ZonalShift) (any, error) { return in, s.Shift(in) }))
	mux.HandleFunc("POST /_sim/settings", ordered(func(in Settings) (any, error) { return s.Set(in), nil }))
	mux.HandleFunc("POST /_sim/reset", func(w http.ResponseWriter, _ *http.Request) {
		s.Reset()
		reply(w, s.State())
	})
	return mux
}

// ordered adapts an order with a JSON body.
func ordered[T any](do func(T) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in T
		d := json.NewDecoder(io.LimitReader(r.Body, maxBody))
		d.DisallowUnknownFields()
		err := d.Decode(&in)
		var out any
		if err == nil {
			out, err = do(in)
		}
		if err != nil {
			status := http.StatusBadRequest
			if errors.Is(err, errNoInstance) {
				status = http.StatusNotFound
			}
			w.WriteHeader(status)
			reply(w, map[string]string{"error": fmt.Sprintf("%s %s: %v", r.Method, r.URL.Path, err)})
			return
		}
		reply(w, out)
	}
}

func reply(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(body); err != nil {
		return // the client has gone
	}
}

// State is a copy of what there is.
func (s *Server) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Clock.Now()
	s.settle(now)
	out := State{
		Time: now, Region: s.cfg.Region, Instances: []InstanceState{}, Faults: []Fault{},
		Requests: make(map[string]map[string]int), Messages: make(map[string]int), Templates: []string{}, Profiles: sortedKeys(s.state.profiles),
	}
	var total model.Price
	for _, i := range s.state.order {
		pool := i.spec.option()
		price := s.state.price(pool)
		if i.alive(now) {
			out.Running++
			total += price
		}
		out.Instances = append(out.Instances, InstanceState{
			ID: i.id, State: i.state(now).Name, Type: pool.InstanceType, Zone: pool.Zone, CapacityType: pool.CapacityType, HourlyUSD: price.USD(),
			PrivateDNS: i.dns, Launched: i.launched, Reservation: i.drawn(), Reason: i.reason.Message, UserData: i.userData(), Tags: i.tags.with("", ""),
		})
		delete(out.Instances[len(out.Instances)-1].Tags, "")
	}
	out.HourlyUSD = total.USD()
	for action, byCode := range s.state.counts {
		out.Requests[action] = maps.Clone(byCode)
	}
	for _, f := range s.state.faults {
		out.Faults = append(out.Faults, *f)
	}
	for _, t := range s.state.templates {
		out.Templates = append(out.Templates, t.name)
	}
	for name, q := range s.state.queues {
		out.Messages[name] = len(q.messages)
	}
	return out
}

// Requests are the last requests, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.state.requests[max(0, len(s.state.requests)-keepRequests):])
}

// Order orders a fault and tells it with its ID.
func (s *Server) Order(f Fault) (Fault, error) {
	if err := f.check(); err != nil {
		return f, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f.ID, f.Struck = s.newID("fault"), 0
	s.state.faults = append(s.state.faults, &f)
	return f, nil
}

// ClearFaults takes all orders back.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.faults = nil
}

// Reset forgets everything that happened, and every change to prices,
// capacity and settings.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Identifiers are not used twice, even so.
	counter := s.state.counter
	s.state = newState(&s.cfg)
	s.state.counter = counter
}

// Price sets an offering's price, of all zones when Zone is empty.
type Price struct {
	Type         string             `json:"type"`
	Zone         string             `json:"zone,omitempty"`
	CapacityType model.CapacityType `json:"capacityType"`
	// USD is per hour; 0 stops the sale.
	USD float64 `json:"usd"`
}

// SetPrices changes prices from now on; on-demand prices have no zone.
func (s *Server) SetPrices(prices []Price) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range prices {
		sale := s.state.sales[p.Type]
		switch {
		case sale == nil:
			return fmt.Errorf("price of %q: no such instance type", p.Type)
		case p.USD < 0:
			return fmt.Errorf("price of %s: %v is negative", p.Type, p.USD)
		case p.CapacityType == model.OnDemand && p.Zone == "":
			sale.onDemand = model.PriceOf(p.USD)
		case p.CapacityType == model.Spot && (p.Zone == "" || sale.zones[p.Zone]):
			for z := range sale.zones {
				if p.Zone == "" || p.Zone == z {
					sale.spot[z] = model.PriceOf(p.USD)
				}
			}
		default:
			return fmt.Errorf("price of %s: want capacityType on-demand without zone, or spot in a zone that sells it, not %q in %q", p.Type, p.CapacityType, p.Zone)
		}
	}
	s.state.since = s.cfg.Clock.Now()
	return nil
}

// Capacity bounds what a pool can still give.
type Capacity struct {
	Type         string             `json:"type"`
	Zone         string             `json:"zone"`
	CapacityType model.CapacityType `json:"capacityType"`
	// Free is how many more instances can start; nil lifts the bound.
	Free *int `json:"free"`
}

// SetCapacity bounds pools. Instances give their place back when they end.
func (s *Server) SetCapacity(pools []Capacity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range pools {
		sale := s.state.sales[p.Type]
		if sale == nil || !sale.zones[p.Zone] || (p.CapacityType != model.Spot && p.CapacityType != model.OnDemand) {
			return fmt.Errorf("capacity of %q in %q (%q): no such offering", p.Type, p.Zone, p.CapacityType)
		}
		pool := model.Option{InstanceType: p.Type, Zone: p.Zone, CapacityType: p.CapacityType}
		if p.Free == nil {
			delete(s.state.pools, pool)
			continue
		}
		s.state.pools[pool] = max(*p.Free, 0)
	}
	return nil
}

// Settings change the pace of the simulation; nil leaves as is.
type Settings struct {
	PendingDelay  *Duration `json:"pendingDelay,omitempty"`
	ShutdownDelay *Duration `json:"shutdownDelay,omitempty"`
	Lag           *Duration `json:"lag,omitempty"`
}

// Set applies settings to instances launched or ended from now on and tells
// all of them.
func (s *Server) Set(in Settings) Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := Settings{&Duration{s.state.pendingDelay}, &Duration{s.state.shutdownDelay}, &Duration{s.state.lag}}
	now.PendingDelay = cmp.Or(in.PendingDelay, now.PendingDelay)
	now.ShutdownDelay = cmp.Or(in.ShutdownDelay, now.ShutdownDelay)
	now.Lag = cmp.Or(in.Lag, now.Lag)
	s.state.pendingDelay, s.state.shutdownDelay, s.state.lag = now.PendingDelay.Duration, now.ShutdownDelay.Duration, now.Lag.Duration
	return now
}
